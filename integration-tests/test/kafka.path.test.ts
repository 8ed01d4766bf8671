import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { defineHandler } from '@litebus/core'
import { createInbox, createInboxProcessor } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { createOutboxProcessor } from '@litebus/outbox'
import { kafkaTransport } from '@litebus/transport-kafka'
import { createExampleProject } from '../readmes/example-project.ts'
import { readExamples } from '../readmes/read-examples.ts'
import { openOrdersOutbox, orderPlaced, type Order } from '../relay/orders-outbox.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { brokersOf, createKafkaTopic, eventually, withKafkaAdmin } from '../services/index.ts'

const keys = 10
const perKey = 50

await describeWithServices('orders over Kafka', ['postgres', 'kafka'], ({ postgres, kafka }) => {
  it('reach their handler once each and in the order of their keys, though one waits and some are published twice', async () => {
    await using resources = new AsyncDisposableStack()
    const space = resources.use(await kafka.createTopics())
    const orders = resources.use(await openOrdersOutbox(postgres))
    const { storage } = orders
    const topic = `${space.prefix}orders`
    await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic, numPartitions: 3 }))
    const transport = resources.use(
      kafkaTransport({ brokers: brokersOf(space.url), groupId: `${space.prefix}billing` }),
    )
    for (let number = 0; number < perKey; number++) {
      await orders.outbox.enqueueBatch(
        Array.from({ length: keys }, (_, key) => ({
          contract: orderPlaced,
          message: { number },
          options: { topic, orderingKey: `key-${String(key)}` },
        })),
      )
    }
    // A relay that is cut off before it writes down what it has published publishes it again.
    const twice = await storage.outbox.query({ limit: 20 })
    await transport.publisher.publish(
      twice.records.map(({ message }) => ({
        destination: topic,
        messageId: message.id,
        body: message.body,
        headers: {
          'litebus-message-id': message.id,
          'litebus-contract-name': 'orders',
          'litebus-contract-version': '1',
          ...(message.orderingKey === undefined ? {} : { 'litebus-ordering-key': message.orderingKey }),
        },
        ...(message.orderingKey === undefined ? {} : { orderingKey: message.orderingKey }),
      })),
    )
    const ingress = resources.use(
      createIngress({
        transport,
        source: topic,
        inbox: createInbox({ store: storage.inbox, contracts: [orderPlaced] }),
        contracts: [orderPlaced],
        identity: 'message',
        maxInFlightMessages: 100,
        batch: { enabled: true, size: 50, maxWaitMs: 5 },
      }),
    )
    await ingress.start()
    const relay = resources.use(createOutboxProcessor({ store: storage.outbox, transport }))
    relay.start()
    const handled = new Map<string, number[]>()
    const worker = resources.use(
      createInboxProcessor({
        store: storage.inbox,
        handlers: [
          defineHandler({
            contract: orderPlaced,
            handle: ({ number }: Order, { orderingKey = '' }) => {
              handled.set(orderingKey, [...(handled.get(orderingKey) ?? []), number])
            },
          }),
        ],
      }),
    )
    worker.start()
    await eventually(
      async () => {
        expect(await storage.inbox.statusCounts()).toMatchObject({
          awaiting: 0,
          leased: 0,
          retryScheduled: 0,
        })
        expect([...handled.values()].flat()).toHaveLength(keys * perKey)
        expect(ingress.counts()).toMatchObject({ acked: keys * perKey + twice.records.length, inFlight: 0 })
      },
      { expectation: 'every order to be handled' },
    )
    const inOrder = Array.from({ length: perKey }, (_, number) => number)
    expect([...handled.keys()].sort()).toEqual(Array.from({ length: keys }, (_, key) => `key-${String(key)}`))
    for (const [key, numbers] of handled) expect([key, numbers]).toEqual([key, inOrder])
  }, 120_000)

  it('begin as the README of the transport shows', async () => {
    await using resources = new AsyncDisposableStack()
    const space = resources.use(await kafka.createTopics())
    const topic = `${space.prefix}orders`
    await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic }))
    const readme = fileURLToPath(new URL('../../packages/transport-kafka/README.md', import.meta.url))
    const [quickStart] = await readExamples(readme, 'quick-start')
    const project = resources.use(await createExampleProject())
    // The group of the README may be somebody's: it gets the prefix of this test.
    const code = quickStart?.code.replace("'billing'", `'${space.prefix}billing'`) ?? ''
    expect((await readFile(readme, 'utf8')).includes("groupId: 'billing'")).toBe(true)
    await project.add({ name: 'quick-start', code: `${code}\nsetTimeout(() => process.exit(), 3000)` })
    const printed = await project.run('quick-start', {
      KAFKA_BROKERS: brokersOf(space.url).join(','),
      TOPIC: topic,
    })
    expect(printed).toBe('confirmed\norder-1 customer-7\n')
  }, 60_000)
})
