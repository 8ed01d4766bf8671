import { hash } from 'node:crypto'
import { defineContract } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { postgresStorage } from '@litebus/storage-postgres'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect, type ConsumeMessage } from 'amqplib'
import pg from 'pg'
import type { Side } from '../harness/benchmark.ts'
import { contractName, type BrokerRound } from './bench-queue.ts'

/** What a round of an ingress does. */
export interface IngressRound extends BrokerRound {
  /** Deliveries of one statement. */
  readonly batch: number
  /** Deliveries held at a time. */
  readonly prefetch: number
}

type OwnSide = Side & AsyncDisposable

const contract = defineContract<unknown>({ name: contractName, version: 1 })

/** Transport, ingress, inbox; batches on, as its README advises for throughput. */
export async function ingressProduct(round: IngressRound): Promise<OwnSide> {
  const { databaseUrl, amqpUrl, queue, kind, messages, batch, prefetch } = round
  const storage = postgresStorage({ connection: databaseUrl, schema: `product_${kind}` })
  await storage.schema.migrate()
  const transport = amqpTransport({ url: amqpUrl, topology: { queues: [{ name: queue.name }] } })
  await transport.probe(queue.name)
  return {
    name: `product, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let settled = 0
      const ingress = createIngress({
        transport,
        source: queue.name,
        inbox: createInbox({ store: storage.inbox, contracts: [contract] }),
        contracts: [contract],
        maxInFlightMessages: prefetch,
        batch: { enabled: true, size: batch, maxWaitMs: 20 },
        telemetry: countingSettlements(() => {
          settled += 1
          if (settled === messages) resolve(undefined)
        }),
      })
      await ingress.start()
      await done
      await ingress.stop()
      const { acked } = ingress.counts()
      return acked
    },
    async [Symbol.asyncDispose]() {
      await transport.close()
      await storage.close()
    },
  }
}

function countingSettlements(
  onSettled: () => void,
): NonNullable<Parameters<typeof createIngress>[0]['telemetry']> {
  return {
    count: ({ name }, _value, attributes) => {
      if (name === 'litebus.consumer.settlements') {
        if (attributes?.['outcome'] !== 'acked') throw new Error('expected every delivery to be acknowledged')
        onSettled()
      }
    },
    record: () => undefined,
    observe: () => () => undefined,
    startSpan: () => ({ setAttributes: () => undefined, fail: () => undefined, end: () => undefined }),
  }
}

const floorSchema = `
  drop schema if exists floor cascade;
  create schema floor;
  create table floor.message (
    seq bigint generated always as identity primary key,
    id uuid not null unique,
    key text not null unique,
    source_id text not null,
    contract text not null,
    created_at timestamptz not null default clock_timestamp(),
    body bytea not null
  );
  create table floor.queue (
    seq bigint primary key,
    due_at timestamptz not null,
    owner text,
    expires_at timestamptz,
    generation bigint,
    attempts int not null default 0
  ) with (fillfactor = 50);
`

const floorAccept = `
  with m as (
    insert into floor.message (id, key, source_id, contract, body)
    select id, $4 || source_id, source_id, contract, body
    from unnest($1::uuid[], $2::text[], $3::text[], $5::bytea[]) as u(id, source_id, contract, body)
    on conflict do nothing
    returning seq
  )
  insert into floor.queue (seq, due_at) select seq, clock_timestamp() from m`

/** A UUID of a name: the row of a delivery has an id of its own, whatever the source calls it. */
function nameUuid(name: string): string {
  const hex = hash('sha1', name)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * The hand-written loop: gathers deliveries, parses each body once, stores a batch by one statement that knows the
 * ids and keys it has seen, as the inbox keeps them, then acknowledges it. Two connections, so that two batches are under way.
 */
export async function ingressFloor(round: IngressRound): Promise<OwnSide> {
  const { databaseUrl, amqpUrl, queue, kind, messages, batch, prefetch } = round
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  await pool.query(floorSchema)
  const connection = await connect(amqpUrl, { noDelay: true })
  return {
    name: `floor, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const channel = await connection.createChannel()
      await channel.prefetch(prefetch)
      const { promise: done, resolve, reject } = Promise.withResolvers<undefined>()
      let gathered: ConsumeMessage[] = []
      let came = 0
      let accepted = 0
      const flush = async (): Promise<void> => {
        const entries = gathered
        gathered = []
        await pool.query(floorAccept, [
          entries.map(({ properties }) => nameUuid(`${queue.name}:${String(properties.messageId)}`)),
          entries.map(({ properties }) => String(properties.messageId)),
          entries.map(({ properties }) => String(properties.headers?.['litebus-contract-name'])),
          `ingress:${queue.name}:`,
          entries.map(({ content }) => content),
        ])
        for (const entry of entries) channel.ack(entry)
        accepted += entries.length
        if (accepted === messages) resolve(undefined)
      }
      const { consumerTag } = await channel.consume(queue.name, (message) => {
        if (message === null) return
        JSON.parse(message.content.toString())
        gathered.push(message)
        came += 1
        if (gathered.length === batch || came === messages) flush().catch(reject)
      })
      await done
      await channel.cancel(consumerTag)
      await channel.close()
      return accepted
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
      await pool.end()
    },
  }
}

/** The client alone: consumes and acknowledges, without a database. */
export async function rawConsume({
  amqpUrl,
  queue,
  kind,
  messages,
  prefetch,
}: IngressRound): Promise<OwnSide> {
  const connection = await connect(amqpUrl, { noDelay: true })
  return {
    name: `raw amqplib, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const channel = await connection.createChannel()
      await channel.prefetch(prefetch)
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let accepted = 0
      const { consumerTag } = await channel.consume(queue.name, (message) => {
        if (message === null) return
        channel.ack(message)
        accepted += 1
        if (accepted === messages) resolve(undefined)
      })
      await done
      await channel.cancel(consumerTag)
      await channel.close()
      return accepted
    },
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
