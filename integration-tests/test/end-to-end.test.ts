import { expect, it } from '@jest/globals'
import { defineTransactionalHandler, type MessageStore, type Transport } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage, type PostgresTransaction } from '@litebus/storage-postgres'
import { openIngress } from '../ingress/open-ingress.ts'
import { webhookBodies } from '../payloads/webhook-bodies.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { orderPlaced, type MessagePath } from '../transports/message-path.ts'

const orders = 200
const traceparent = (index: number): string =>
  `00-0af7651916cd43dd8448eb211c80${index.toString(16).padStart(4, '0')}-b7ad6b7169203331-01`

/** Publishes every message twice, as a relay does that did not hear the confirm of the first publish. */
function publishingTwice(transport: Transport): Transport {
  return {
    ...transport,
    publisher: {
      publish: async (messages, options) => {
        await transport.publisher.publish(messages, options)
        return transport.publisher.publish(messages, options)
      },
    },
  }
}

/** Loses the answers of the first settles, as a connection does that breaks after a publish. */
function losingSettles(store: MessageStore<PostgresTransaction>): MessageStore<PostgresTransaction> {
  let lost = 0
  return {
    ...store,
    settle: (outcomes) =>
      lost++ < 2 ? Promise.reject(new Error('connection reset')) : store.settle(outcomes),
  }
}

async function place({ pool, storage }: MessagePath): Promise<readonly string[]> {
  const outbox = createOutbox({ store: storage.outbox, contracts: [orderPlaced] })
  const ids: string[] = []
  for (let index = 0; index < orders; index++) {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const order = { id: `order-${String(index)}`, webhook: webhookBodies[index % webhookBodies.length] }
      const { id } = await outbox.enqueue(orderPlaced, order, {
        transaction: client,
        correlationId: `correlation-${String(index)}`,
        trace: { traceparent: traceparent(index) },
      })
      await client.query(index % 10 === 9 ? 'rollback' : 'commit')
      if (index % 10 !== 9) ids.push(id)
    } finally {
      client.release()
    }
  }
  return ids
}

await describeTransports(
  'outbox to broker to ingress to inbox to handler, in two services',
  ({ withPath }) => {
    it(
      'runs each handler once a logical send, whatever is published or delivered twice, with trace and correlation intact',
      () =>
        withPath(async (path) => {
          const { pool, scope, fixture, storage } = path
          const billing = scope.use(postgresStorage({ pool, schema: 'billing' }))
          await billing.schema.migrate()
          await pool.query(
            'create table effects (message_id uuid, order_id text, correlation text, trace text, body jsonb)',
          )
          const subject = await openIngress(path, { inboxStore: billing.inbox, identity: 'message' })
          const relay = createOutboxProcessor({
            store: losingSettles(storage.outbox),
            transport: publishingTwice(scope.use(fixture.connect())),
            routing: { resolve: () => ({ destination: subject.target.destination }) },
            leaseMs: 1000,
            heartbeatMs: 300,
            publishTimeoutMs: 400,
            batchSize: 40,
            pollMs: 50,
          })
          scope.defer(async () => {
            await relay.stop({ graceMs: 2000 })
          })
          let runs = 0
          const worker = createInboxProcessor({
            store: billing.inbox,
            pollMs: 50,
            handlers: [
              defineTransactionalHandler({
                contract: orderPlaced,
                async handle(order, context: EffectContext) {
                  runs += 1
                  await context.transaction.query('insert into effects values ($1, $2, $3, $4, $5)', [
                    context.messageId,
                    order.id,
                    context.correlationId,
                    context.trace?.traceparent,
                    JSON.stringify(order),
                  ])
                },
              }),
            ],
          })
          scope.defer(async () => {
            await worker.stop({ graceMs: 2000 })
          })
          const ids = await place(path)
          await subject.ingress.start()
          relay.start()
          worker.start()

          await eventually(
            async () => {
              expect(await billing.inbox.statusCounts()).toMatchObject({ awaiting: 0, leased: 0, parked: 0 })
              const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from effects')
              expect(rows[0]?.n).toBe(ids.length)
              expect(await storage.outbox.statusCounts()).toMatchObject({ awaiting: 0, leased: 0, parked: 0 })
              expect(subject.ingress.counts().inFlight).toBe(0)
              expect(await fixture.count(subject.target.source)).toBe(0)
            },
            { expectation: 'one effect a committed order', timeoutMs: 60_000 },
          )
          const { rows } = await pool.query<{ order_id: string; correlation: string; trace: string }>(
            'select order_id, correlation, trace from effects',
          )
          expect(new Set(rows.map(({ order_id }) => order_id)).size).toBe(ids.length)
          expect(runs).toBe(ids.length)
          for (const { order_id, correlation, trace } of rows) {
            const index = Number(order_id.replace('order-', ''))
            expect([correlation, trace]).toEqual([`correlation-${String(index)}`, traceparent(index)])
          }
          const { acked, deliveries, discarded } = subject.ingress.counts()
          expect(discarded).toBe(0)
          expect(acked).toBe(deliveries)
          // Each was published twice, and those whose settle was lost once more.
          expect(deliveries).toBeGreaterThan(ids.length * 2)
        }),
      90_000,
    )
  },
)

interface EffectContext {
  readonly messageId: string
  readonly correlationId?: string
  readonly trace?: { readonly traceparent: string }
  readonly transaction: PostgresTransaction
}
