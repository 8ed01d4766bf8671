import { expect, it } from '@jest/globals'
import { createOutboxProcessor } from '@litebus/outbox'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { openOrdersOutbox, orderPlaced } from '../relay/orders-outbox.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const quick = { initialDelayMs: 50, maxDelayMs: 200 } as const

await describeWithServices(
  'a message that the broker does not take, relayed from an outbox,',
  ['postgres', 'rabbitmq'],
  ({ postgres, rabbitmq }) => {
    it('is parked after its attempts when no queue takes it', async () => {
      await using vhost = await rabbitmq.createVhost()
      await using orders = await openOrdersOutbox(postgres)
      await using transport = amqpTransport({ url: vhost.url })
      const { id } = await orders.outbox.enqueue(orderPlaced, { number: 1 }, { topic: 'nowhere' })
      await using relay = createOutboxProcessor({
        store: orders.storage.outbox,
        transport,
        maxAttempts: 3,
        backoff: quick,
      })
      expect(await relay.processPending()).toMatchObject({ failed: 1 })
      expect(await orders.stands(id)).toBe('retryScheduled 1 UNROUTABLE')
      relay.start()
      await eventually(
        async () => {
          expect(await orders.stands(id)).toBe('parked 3 UNROUTABLE UNROUTABLE UNROUTABLE')
        },
        { expectation: 'the message to be parked' },
      )
    })

    it('is retried by the policy, and taken when its queue has appeared', async () => {
      await using vhost = await rabbitmq.createVhost()
      await using orders = await openOrdersOutbox(postgres)
      await using transport = amqpTransport({ url: vhost.url })
      const queue = `${vhost.prefix}late`
      const { id } = await orders.outbox.enqueue(orderPlaced, { number: 1 }, { topic: queue })
      await using relay = createOutboxProcessor({
        store: orders.storage.outbox,
        transport,
        maxAttempts: 1000,
        backoff: quick,
      })
      relay.start()
      await eventually(
        async () => {
          expect(await orders.stands(id)).toMatch(/^retryScheduled [2-9] UNROUTABLE UNROUTABLE/u)
        },
        { expectation: 'two attempts' },
      )
      const admin = await connect(vhost.url)
      const channel = await admin.createChannel()
      await channel.assertQueue(queue)
      await eventually(
        async () => {
          expect(await orders.stands(id)).toMatch(/^succeeded$/u)
        },
        { expectation: 'the message to be published' },
      )
      expect((await channel.checkQueue(queue)).messageCount).toBe(1)
      await admin.close()
    })

    it('fails alone when its exchange does not exist, and when its exchange vanishes between two publishes', async () => {
      await using vhost = await rabbitmq.createVhost()
      await using orders = await openOrdersOutbox(postgres)
      await using transport = amqpTransport({
        url: vhost.url,
        topology: { queues: [{ name: `${vhost.prefix}good`, kind: 'classic' }] },
      })
      const name = (text: string): string => `${vhost.prefix}${text}`
      const admin = await connect(vhost.url)
      const channel = await admin.createChannel()
      await channel.assertExchange(name('vanishing'), 'fanout')
      await channel.assertQueue(name('vanishing-queue'))
      await channel.bindQueue(name('vanishing-queue'), name('vanishing'), '')
      const fill = async (): Promise<void> => {
        await orders.outbox.enqueueBatch(
          Array.from({ length: 90 }, (_, number) => ({
            contract: orderPlaced,
            message: { number },
            options: { topic: name(['good', 'unknown', 'vanishing'][number % 3] ?? '') },
          })),
        )
      }
      await using relay = createOutboxProcessor({
        store: orders.storage.outbox,
        transport,
        maxAttempts: 1,
        routing: {
          resolve: ({ topic = '' }) => ({
            destination: topic,
            ...(topic.endsWith('good') ? {} : { routingKey: 'any' }),
          }),
        },
      })
      await fill()
      expect(await relay.processPending()).toMatchObject({ leased: 90, succeeded: 60, deadLettered: 30 })
      expect(await orders.allStand(name('unknown'))).toEqual(['parked 1 DESTINATION_MISSING'])
      expect(await orders.allStand(name('vanishing'))).toEqual(['succeeded'])
      await channel.deleteExchange(name('vanishing'))
      await fill()
      // The broker closes the channel over the exchange that is gone; whatever else was open there goes out again.
      expect(await relay.processPending()).toMatchObject({ leased: 90, succeeded: 30, deadLettered: 60 })
      expect(await orders.allStand(name('good'))).toEqual(['succeeded'])
      expect(await orders.allStand(name('vanishing'))).toEqual(['succeeded', 'parked 1 DESTINATION_MISSING'])
      await admin.close()
    })
  },
)
