import { createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import pg from 'pg'
import type { Side } from '../harness/benchmark.ts'
import { payload } from '../harness/payloads.ts'
import { fillFloor, floorLease, floorSchema, floorSettle } from '../store/floor-model.ts'
import { contractName, publishRaw, type BrokerRound } from './bench-queue.ts'

/** What a round of a relay does. */
export interface RelayRound extends BrokerRound {
  /** Rows of one lease. */
  readonly batch: number
  /** Most publishes sent and not confirmed. */
  readonly window: number
}

type OwnSide = Side & AsyncDisposable

/** Outbox, engine, transport. */
export async function relayProduct(round: RelayRound): Promise<OwnSide> {
  const { databaseUrl, amqpUrl, queue, kind, messages, batch, window } = round
  const storage = postgresStorage({ connection: databaseUrl, schema: `product_${kind}` })
  await storage.schema.migrate()
  const transport = amqpTransport({
    url: amqpUrl,
    publishWindow: window,
    topology: { queues: [{ name: queue.name }] },
  })
  await transport.probe(queue.name)
  return {
    name: `product, ${kind}`,
    async prepare() {
      await queue.purge()
      for (let from = 0; from < messages; from += 1000) {
        await storage.outbox.append(
          Array.from({ length: Math.min(1000, messages - from) }, (_, offset) => ({
            id: crypto.randomUUID(),
            contractName,
            contractVersion: 1,
            topic: queue.name,
            body: Buffer.from(payload(kind, from + offset)),
          })),
        )
      }
    },
    async run() {
      let settled = 0
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      const { outbox } = storage
      const processor = createOutboxProcessor({
        store: {
          ...outbox,
          async settle(outcomes, options) {
            const results = await outbox.settle(outcomes, options)
            settled += results.length
            if (settled >= messages) resolve(undefined)
            return results
          },
        },
        transport,
        batchSize: batch,
      })
      processor.start()
      await done
      await processor.stop()
      return messages
    },
    async [Symbol.asyncDispose]() {
      await transport.close()
      await storage.close()
    },
  }
}

/**
 * The hand-written loop: the next lease overlaps the confirms of the last batch, and a batch is settled by one
 * statement when all of it is confirmed. The window is the same.
 */
export async function relayFloor(round: RelayRound): Promise<OwnSide> {
  const { databaseUrl, amqpUrl, queue, kind, messages, batch, window } = round
  const leaser = new pg.Client({ connectionString: databaseUrl })
  const settler = new pg.Client({ connectionString: databaseUrl })
  await Promise.all([leaser.connect(), settler.connect()])
  await leaser.query(floorSchema)
  // The planner must not hash whole tables for a batch: every join here is by key.
  for (const client of [leaser, settler])
    await client.query('set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off')
  const connection = await connect(amqpUrl, { noDelay: true })
  const channel = await connection.createConfirmChannel()
  channel.on('return', () => {
    throw new Error('expected every message to be routed')
  })
  let position = '0'
  const publish = (rows: readonly LeasedRow[]): Promise<void> =>
    new Promise((resolve) => {
      let open = rows.length
      for (const row of rows) {
        const confirmed = (): void => {
          open -= 1
          if (open === 0) resolve()
        }
        publishRaw(channel, queue.name, { id: row[3], body: Buffer.from(row[6]), confirmed })
      }
    })
  return {
    name: `floor, ${kind}`,
    async prepare() {
      await queue.purge()
      for (let from = 0; from < messages; from += 1000) {
        await fillFloor(
          leaser,
          Array.from({ length: Math.min(1000, messages - from) }, (_, index) => payload(kind, from + index)),
        )
      }
      await leaser.query('analyze floor.queue')
    },
    async run() {
      const open: Promise<unknown>[] = []
      let handled = 0
      let settling: Promise<unknown> = Promise.resolve()
      while (handled < messages) {
        const { rows } = await leaser.query<LeasedRow>({
          text: floorLease,
          values: [position, batch, 'floor'],
          rowMode: 'array',
        })
        rows.sort((a, b) => Number(a[0]) - Number(b[0]))
        const last = rows.at(-1)
        position = last?.[0] ?? '0'
        if (last === undefined) continue
        handled += rows.length
        if (open.length >= window / batch) await open.shift()
        const confirmed = publish(rows)
        open.push(confirmed)
        settling = Promise.all([confirmed, settling]).then(() =>
          settler.query(floorSettle, [rows.map((row) => row[0]), rows.map((row) => row[1]), 'floor']),
        )
      }
      await settling
      return handled
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
      await Promise.all([leaser.end(), settler.end()])
    },
  }
}

/** Sequence, generation, attempts, id, contract, time, body. */
type LeasedRow = [string, string, number, string, string, Date, string]

/** The client alone: publishes with the window, without a database. */
export async function rawPublish({ amqpUrl, queue, kind, messages, window }: RelayRound): Promise<OwnSide> {
  const connection = await connect(amqpUrl, { noDelay: true })
  const channel = await connection.createConfirmChannel()
  return {
    name: `raw amqplib, ${kind}`,
    prepare: () => queue.purge(),
    run: () =>
      new Promise((resolve) => {
        let sent = 0
        let confirmed = 0
        const next = (): void => {
          const onConfirmed = (): void => {
            confirmed += 1
            if (sent < messages) next()
            if (confirmed === messages) resolve(messages)
          }
          const body = Buffer.from(payload(kind, sent))
          publishRaw(channel, queue.name, { id: crypto.randomUUID(), body, confirmed: onConfirmed })
          sent += 1
        }
        while (sent < Math.min(window, messages)) next()
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
