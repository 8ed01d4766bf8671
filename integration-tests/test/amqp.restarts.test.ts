import { expect, it } from '@jest/globals'
import { defineContract } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import { amqpTransport } from '@litebus/transport-amqp'
import { printedSeed, seededRandom } from '../relay/seeded-random.ts'
import { watchTransport } from '../relay/watched-transport.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const long = process.env['LITEBUS_LONG'] === '1'
const messages = long ? 20_000 : 3000
const restarts = long ? 5 : 3
const prefetch = 100
const contract = defineContract<{ readonly number: number }>({ name: 'orders', version: 1 })

await describeWithServices(
  'an outbox that relays to a broker',
  ['postgres', 'startRabbitNode'],
  ({ postgres, startRabbitNode }) => {
    it(`which is restarted ${String(restarts)} times loses none of ${String(messages)} messages, and repeats only what was open`, async () => {
      const random = seededRandom(printedSeed('broker restarts'))
      await using resources = new AsyncDisposableStack()
      const node = resources.use(await startRabbitNode())
      const database = resources.use(await postgres.createDatabase())
      const storage = postgresStorage({ connection: database.url })
      resources.defer(() => storage.close())
      await storage.schema.migrate()
      const outbox = createOutbox({ store: storage.outbox, contracts: [contract] })
      const enqueue = (count: number): Promise<unknown> =>
        outbox.enqueueBatch(Array.from({ length: count }, (_, number) => ({ contract, message: { number } })))
      for (let from = 0; from < messages; from += 1000) await enqueue(1000)

      const watched = watchTransport(
        amqpTransport({
          url: node.url,
          reconnect: { initialDelayMs: 50, maxDelayMs: 500 },
          topology: { queues: [{ name: 'orders' }] },
        }),
      )
      const { transport } = watched
      resources.defer(() => transport.close())
      await transport.probe('orders')
      // A node that is killed forgets what was declared a moment before, and a quorum queue that is half remembered
      // answers nobody for a minute: an orderly stop writes all of it down.
      await node.stop()
      await node.start()
      await eventually(() => transport.probe('orders'), { expectation: 'the node to be back' })
      const ingress = resources.use(
        createIngress({
          transport,
          source: 'orders',
          inbox: createInbox({ store: storage.inbox, contracts: [contract] }),
          contracts: [contract],
          maxInFlightMessages: prefetch,
          batch: { enabled: true, size: 50, maxWaitMs: 10 },
        }),
      )
      await ingress.start()
      const relay = resources.use(
        createOutboxProcessor({
          store: storage.outbox,
          transport,
          circuitBreaker: { initialDelayMs: 100, maxDelayMs: 1000 },
        }),
      )

      const told: { readonly how: string; readonly orderly: boolean; readonly unanswered: number }[] = []
      const part = messages / (restarts + 1)
      let reached = watched.reached(Math.floor(part * (0.5 + random())))
      relay.start()
      for (let restart = 1; restart <= restarts; restart++) {
        await reached
        const { confirmed, unanswered } = watched
        const orderly = random() < 0.3
        told.push({
          how: `${orderly ? 'stopped in order' : 'killed'} at ${String(confirmed)} confirmed`,
          orderly,
          unanswered,
        })
        if (orderly) await node.stop()
        else await node.kill()
        await eventually(
          () => {
            expect(watched.losses).toHaveLength(restart)
          },
          { expectation: 'the consumer to notice', intervalMs: 5 },
        )
        reached = watched.reached(Math.floor(part * (restart + 0.5 + random())))
        await node.start()
        await eventually(
          () => {
            expect(watched.confirmed).toBeGreaterThan(confirmed)
            expect(watched.subscription?.state).toBe('consuming')
          },
          { expectation: 'both sides to go on', timeoutMs: 60_000 },
        )
      }
      const duplicates = (): number =>
        [...watched.deliveries.values()].reduce((sum, times) => sum + times - 1, 0)
      await eventually(
        async () => {
          expect(await storage.inbox.statusCounts()).toMatchObject({ awaiting: messages })
          expect(await storage.outbox.statusCounts()).toMatchObject({
            awaiting: 0,
            leased: 0,
            retryScheduled: 0,
            parked: 0,
          })
          expect(watched.deliveries.size).toBe(messages)
        },
        { expectation: 'every message in the inbox and none left in the outbox', timeoutMs: 120_000 },
      )
      const outages = told.map(({ how, orderly, unanswered }, index) => ({
        how,
        orderly,
        unanswered: (told[index + 1] ?? watched).unanswered - unanswered,
        held: watched.losses[index]?.held,
        redelivered:
          (watched.losses[index + 1] ?? watched).redelivered - (watched.losses[index]?.redelivered ?? 0),
      }))
      for (const { how, unanswered, held, redelivered } of outages) {
        process.stderr.write(
          `${how}: ${String(unanswered)} publishes unanswered, ${String(held)} deliveries held, ${String(redelivered)} redelivered\n`,
        )
      }
      process.stderr.write(`${String(messages)} messages: 0 lost, ${String(duplicates())} delivered twice\n`)
      // An acknowledgement has no answer, so what left here may not have arrived: the broker counts by its prefetch. One
      // that is killed on a busy machine may also forget what it took and had answered with further deliveries already.
      for (const { redelivered } of outages.filter(({ orderly }) => orderly))
        expect(redelivered).toBeLessThanOrEqual(prefetch)
      expect(duplicates()).toBeLessThanOrEqual(watched.unanswered + watched.redelivered)
      expect(duplicates()).toBeLessThanOrEqual(watched.unanswered + restarts * prefetch)
      await enqueue(1)
      await eventually(
        async () => {
          expect(await storage.inbox.statusCounts()).toMatchObject({ awaiting: messages + 1 })
        },
        { expectation: 'one more message to pass without a manual step' },
      )
      expect(ingress.counts()).toMatchObject({ discarded: 0, returned: 0 })
    }, 300_000)
  },
)
