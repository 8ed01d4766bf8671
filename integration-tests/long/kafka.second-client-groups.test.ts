import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Transport } from '@litebus/core'
import { confluentClient, kafkaTransport, type KafkaTransportOptions } from '@litebus/transport-kafka'
import { keepLog } from '../transports/open-source.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import {
  brokersOf,
  createKafkaTopic,
  eventually,
  groupLag,
  kafkaClient,
  withKafkaAdmin,
  type TestTopics,
} from '../services/index.ts'

await describeWithServices(
  'groups of the Kafka transport over @confluentinc/kafka-javascript',
  ['kafka', 'confluentPackage'],
  ({ kafka, confluentPackage: { KafkaJS } }) => {
    let space: TestTopics

    beforeAll(async () => {
      space = await kafka.createTopics()
    })
    afterAll(async () => {
      await space[Symbol.asyncDispose]()
    })

    const open = (topic: string, options: KafkaTransportOptions = {}): Transport =>
      kafkaTransport({
        client: confluentClient(new KafkaJS.Kafka({ kafkaJS: { brokers: brokersOf(space.url) } })),
        groupId: `${topic}-group`,
        fetchMaxWaitMs: 50,
        sessionTimeoutMs: 6000,
        heartbeatIntervalMs: 200,
        reconnect: { initialDelayMs: 10, maxDelayMs: 200 },
        ...options,
      })
    const createTopic = async (name: string, numPartitions: number): Promise<string> => {
      const topic = `${space.prefix}${name}`
      await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic, numPartitions }))
      return topic
    }
    const publish = async (
      transport: Transport,
      topic: string,
      from: number,
      count: number,
    ): Promise<void> => {
      const outcomes = await transport.publisher.publish(
        Array.from({ length: count }, (_, index) => ({
          destination: topic,
          messageId: `m-${String(from + index)}`,
          orderingKey: `k-${String(index % 20)}`,
          body: Buffer.from('{}'),
          headers: {},
        })),
      )
      expect(outcomes.every(({ status }) => status === 'confirmed')).toBe(true)
    }
    const lag = (topic: string): Promise<number> =>
      withKafkaAdmin(space.url, (admin) => groupLag(admin, { group: `${topic}-group`, topic }))
    const untilDone = (topic: string, handled: ReadonlySet<string>, count: number): Promise<void> =>
      eventually(
        async () => {
          const left = await lag(topic)
          if (handled.size < count || left > 0)
            throw new Error(`${String(handled.size)} handled, ${String(left)} not committed`)
        },
        { expectation: `${String(count)} records to be handled and committed`, timeoutMs: 30_000 },
      )

    test.each([
      ['eager', {}, 'roundrobin'],
      ['cooperative', { 'partition.assignment.strategy': 'cooperative-sticky' }, 'cooperative-sticky'],
      // Groups of the newer protocol are described by a request that KafkaJS does not know.
      ['server-side', { 'group.protocol': 'consumer' }, ''],
    ])('lose nothing in %s rebalances, as consumers come and go', async (name, consumerOptions, protocol) => {
      const topic = await createTopic(name, 4)
      await using transport = open(topic, { consumerOptions })
      const handled = new Set<string>()
      const subscribe = (): ReturnType<Transport['consumer']['subscribe']> =>
        transport.consumer.subscribe({ source: topic, maxInFlight: 10 }, (delivery) => {
          handled.add(delivery.message.messageId ?? '')
          void delivery.accept()
        })
      const one = await subscribe()
      await publish(transport, topic, 0, 200)
      const two = await subscribe()
      await publish(transport, topic, 200, 200)
      await untilDone(topic, handled, 400)
      const groups = await withKafkaAdmin(space.url, (admin) => admin.describeGroups([`${topic}-group`]))
      expect(groups.groups[0]).toMatchObject({ protocol, members: protocol === '' ? [] : [{}, {}] })
      await publish(transport, topic, 400, 200)
      await one.stop({ budgetMs: 5000 })
      const three = await subscribe()
      await publish(transport, topic, 600, 200)
      await untilDone(topic, handled, 800)
      await Promise.all([two.stop({ budgetMs: 5000 }), three.stop({ budgetMs: 5000 })])
    })

    test('pass over control records and aborted transactions, in order', async () => {
      const topic = await createTopic('transactions', 1)
      await using transport = open(topic)
      const handled: string[] = []
      const subscription = await transport.consumer.subscribe(
        { source: topic, maxInFlight: 10 },
        (delivery) => {
          handled.push(Buffer.from(delivery.message.body).toString())
          void delivery.accept()
        },
      )
      const producer = kafkaClient(space.url).producer({ transactionalId: topic, maxInFlightRequests: 1 })
      await producer.connect()
      const expected: string[] = []
      for (let number = 0; number < 6; number += 1) {
        const transaction = await producer.transaction()
        await transaction.send({ topic, messages: [{ value: String(number) }] })
        if (number % 3 === 1) await transaction.abort()
        else {
          await transaction.commit()
          expected.push(String(number))
        }
        // One by one, so that a fetch starts behind what holds no record.
        await eventually(
          () => {
            expect(handled).toEqual(expected)
          },
          { expectation: `record ${String(number)} to be handled or passed over`, timeoutMs: 20_000 },
        )
      }
      await producer.disconnect()
      await subscription.stop({ budgetMs: 5000 })
    })

    test('keep the place of a static member that comes back within its session timeout', async () => {
      const topic = await createTopic('static', 1)
      const consumerOptions = { 'group.instance.id': 'instance-1' }
      const handled = new Set<string>()
      const run = async (count: number): Promise<void> => {
        await using transport = open(topic, { consumerOptions })
        const subscription = await transport.consumer.subscribe(
          { source: topic, maxInFlight: 10 },
          (delivery) => {
            handled.add(delivery.message.messageId ?? '')
            void delivery.accept()
          },
        )
        await publish(transport, topic, handled.size, 50)
        await untilDone(topic, handled, count)
        await subscription.stop({ budgetMs: 5000 })
      }
      await run(50)
      const members = async (): Promise<number | undefined> =>
        withKafkaAdmin(
          space.url,
          async (admin) => (await admin.describeGroups([`${topic}-group`])).groups[0]?.members.length,
        )
      // A static member does not leave when it stops: nothing is given away while it is restarted.
      expect(await members()).toBe(1)
      await run(100)
      expect(await members()).toBe(1)
    })

    test('say so when a second member takes the place of a static one, and join again', async () => {
      const topic = await createTopic('fenced', 1)
      const consumerOptions = { 'group.instance.id': 'instance-1' }
      const log = keepLog()
      await using first = open(topic, { consumerOptions, logger: log.logger })
      await using second = open(topic, { consumerOptions })
      const one = await first.consumer.subscribe({ source: topic, maxInFlight: 1 }, () => undefined)
      const two = await second.consumer.subscribe({ source: topic, maxInFlight: 1 }, () => undefined)
      const ended = 'the membership of the group has ended; it joins again'
      await eventually(
        () => {
          expect(log.text()).toContain(ended)
        },
        { expectation: 'the first member to notice', timeoutMs: 20_000 },
      )
      await Promise.all([one.stop({ budgetMs: 100 }), two.stop({ budgetMs: 100 })])
    })
  },
)
