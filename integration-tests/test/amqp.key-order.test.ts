import { expect, it } from '@jest/globals'
import { textOf } from '@litebus/core'
import { createOutboxProcessor } from '@litebus/outbox'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { openOrdersOutbox, orderPlaced, type Order } from '../relay/orders-outbox.ts'
import { printedSeed, seededRandom } from '../relay/seeded-random.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually, startTcpProxy } from '../services/index.ts'

const keys = 20
const perKey = 40
const cuts = 4

await describeWithServices(
  'the messages of one ordering key, relayed from an outbox,',
  ['postgres', 'rabbitmq'],
  ({ postgres, rabbitmq }) => {
    it('arrive in order though one in their middle is rejected until its route exists, and connections are cut', async () => {
      const random = seededRandom(printedSeed('order of keys'))
      await using resources = new AsyncDisposableStack()
      const vhost = resources.use(await rabbitmq.createVhost())
      const orders = resources.use(await openOrdersOutbox(postgres))
      const proxy = resources.use(await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) }))
      const [queue, exchange] = [`${vhost.prefix}ordered`, `${vhost.prefix}events`]
      const transport = resources.use(
        amqpTransport({
          url: proxy.through(vhost.url),
          reconnect: { initialDelayMs: 10, maxDelayMs: 100 },
          topology: {
            queues: [{ name: queue, singleActiveConsumer: true, deliveryLimit: 1000 }],
            exchanges: [{ name: exchange, type: 'topic' }],
            bindings: [{ exchange, queue, routingKey: 'bound' }],
          },
        }),
      )
      // Each key has one message whose routing key no queue is bound to, somewhere in its middle.
      const strays = Array.from({ length: keys }, () => 5 + Math.floor(random() * (perKey - 10)))
      for (let number = 0; number < perKey; number++) {
        await orders.outbox.enqueueBatch(
          Array.from({ length: keys }, (_, key) => ({
            contract: orderPlaced,
            message: { number },
            options: {
              orderingKey: `key-${String(key)}`,
              topic: number === strays[key] ? 'stray' : 'bound',
            },
          })),
        )
      }
      const arrived = new Map<string, number[]>()
      const count = (): number => [...arrived.values()].reduce((sum, numbers) => sum + numbers.length, 0)
      await transport.consumer.subscribe({ source: queue, maxInFlight: 50 }, (delivery) => {
        const key = textOf(delivery.message.headers['litebus-ordering-key'] ?? '') ?? ''
        const { number } = JSON.parse(Buffer.from(delivery.message.body).toString()) as Order
        const numbers = arrived.get(key) ?? []
        arrived.set(key, numbers)
        // A duplicate repeats what was there before and says nothing about order.
        if (!numbers.includes(number)) numbers.push(number)
        void delivery.accept()
      })
      const relay = resources.use(
        createOutboxProcessor({
          store: orders.storage.outbox,
          transport,
          maxAttempts: 1000,
          backoff: { initialDelayMs: 20, maxDelayMs: 100 },
          circuitBreaker: { initialDelayMs: 20, maxDelayMs: 100 },
          routing: {
            resolve: ({ topic = '' }) => ({ destination: exchange, routingKey: topic }),
          },
        }),
      )
      relay.start()
      const before = strays.reduce((sum, stray) => sum + stray, 0)
      const arrivals = (least: number): Promise<void> =>
        eventually(
          () => {
            expect(count()).toBeGreaterThanOrEqual(least)
          },
          { expectation: `${String(least)} messages`, intervalMs: 2, timeoutMs: 60_000 },
        )
      for (let cut = 1; cut <= cuts; cut++) {
        await arrivals(Math.floor((before * (cut - 0.5 + random() / 4)) / cuts))
        proxy.cut()
      }
      await arrivals(before)
      // Every key stands before its stray message, however often that was tried.
      await eventually(
        async () => {
          const { records } = await orders.storage.outbox.query({ limit: 1000 })
          const tried = records.filter(({ failures }) => failures.some(({ code }) => code === 'UNROUTABLE'))
          expect(tried).toHaveLength(keys)
        },
        { expectation: 'every stray message to be rejected' },
      )
      expect([...arrived.values()].map((numbers) => numbers.length)).toEqual(
        [...arrived.keys()].map((key) => strays[Number(key.slice('key-'.length))]),
      )
      const admin = await connect(vhost.url)
      const channel = await admin.createChannel()
      proxy.cut()
      await channel.bindQueue(queue, exchange, 'stray')
      await admin.close()
      await arrivals(before + (keys * perKey - before) / 2)
      proxy.cut()
      await arrivals(keys * perKey)
      const inOrder = Array.from({ length: perKey }, (_, number) => number)
      for (const [key, numbers] of arrived) expect([key, numbers]).toEqual([key, inOrder])
    }, 120_000)
  },
)
