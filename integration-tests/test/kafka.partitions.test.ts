import { expect, it } from '@jest/globals'
import { isLiteBusError, type Delivery, type OutboundMessage, type SubscriptionState } from '@litebus/core'
import { kafkaTransport, type KafkaTransportOptions } from '@litebus/transport-kafka'
import { describeWithServices } from '../services/describe-with-services.ts'
import {
  brokersOf,
  createKafkaTopic,
  eventually,
  groupLag,
  kafkaClient,
  withKafkaAdmin,
  type KafkaService,
} from '../services/index.ts'

// Longer than the session: without heartbeats the group would have given the partitions away.
const sessionTimeoutMs = 6000
const pauseMs = process.env['LITEBUS_LONG'] === '1' ? 60_000 : sessionTimeoutMs + 1500

/** A topic, and transports of one group. */
async function arrange(kafka: KafkaService, resources: AsyncDisposableStack, partitions: number) {
  const space = resources.use(await kafka.createTopics())
  const topic = `${space.prefix}topic`
  const group = `${space.prefix}group`
  await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic, numPartitions: partitions }))
  const connect = (options: Partial<KafkaTransportOptions> = {}) =>
    resources.use(
      kafkaTransport({
        brokers: brokersOf(space.url),
        groupId: group,
        sessionTimeoutMs,
        heartbeatIntervalMs: 500,
        fetchMaxWaitMs: 50,
        ...options,
      }),
    )
  const message = (messageId: string, orderingKey = 'key'): OutboundMessage => ({
    destination: topic,
    messageId,
    orderingKey,
    body: Buffer.from(messageId),
    headers: {},
  })
  const lag = () => withKafkaAdmin(space.url, (admin) => groupLag(admin, { group, topic }))
  return { space, topic, group, connect, message, lag }
}

function idsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ message }) => message.messageId ?? '')
}

await describeWithServices('partitions of a Kafka topic', ['kafka'], ({ kafka }) => {
  it(`stand still for a return of ${String(pauseMs)} ms, in order, while others go on and the member stays in its group`, async () => {
    await using resources = new AsyncDisposableStack()
    const { space, topic, group, connect, message, lag } = await arrange(kafka, resources, 2)
    const transport = connect()
    const states: SubscriptionState[] = []
    const paused: Delivery[] = []
    const others: Delivery[] = []
    let returnedAt = 0
    await transport.consumer.subscribe(
      { source: topic, maxInFlight: 10, onStateChange: (state) => states.push(state) },
      (delivery) => {
        const isOther = delivery.message.orderingKey !== 'key'
        ;(isOther ? others : paused).push(delivery)
        if (isOther || delivery.redelivered) void delivery.accept()
        else if (delivery.message.messageId === 'a') {
          returnedAt = performance.now()
          void delivery.returnToQueue({ delayMs: pauseMs, attempt: 1 })
        } else void delivery.accept()
      },
    )
    const members = () =>
      withKafkaAdmin(space.url, async (admin) => {
        const { groups } = await admin.describeGroups([group])
        return groups[0]?.members.map(({ memberId }) => memberId)
      })
    const before = await members()
    await transport.publisher.publish([message('a')])
    await eventually(
      () => {
        expect(paused).toHaveLength(1)
      },
      { expectation: 'the record that goes back' },
    )
    await transport.publisher.publish([message('b'), message('c')])
    // 'key' and 'other' have different partitions of two.
    for (let sent = 1; performance.now() < returnedAt + pauseMs - 500; sent += 1) {
      await transport.publisher.publish([message(`other-${String(sent)}`, 'other')])
      await eventually(
        () => {
          expect(others).toHaveLength(sent)
        },
        { expectation: 'the other partition to go on' },
      )
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(idsOf(paused)).toEqual(['a'])
    await eventually(
      async () => {
        expect(idsOf(paused)).toEqual(['a', 'a', 'b', 'c'])
        expect(await lag()).toBe(0)
      },
      { expectation: 'the paused partition to go on' },
    )
    expect(paused[1]).toMatchObject({ attempt: 1, redelivered: true })
    expect([states, await members()]).toEqual([['consuming'], before])
  }, 120_000)

  it('are not skipped over when their records were deleted unread, unless that is asked for', async () => {
    await using resources = new AsyncDisposableStack()
    const { space, topic, connect, message, lag } = await arrange(kafka, resources, 1)
    const first = connect()
    const subscription = await first.consumer.subscribe({ source: topic, maxInFlight: 1 }, () => undefined)
    await first.publisher.publish(Array.from({ length: 6 }, (_, index) => message(`m-${String(index)}`)))
    await subscription.stop({ budgetMs: 0 })
    await withKafkaAdmin(space.url, async (admin) => {
      // The client has to know the topic before it can find its leader.
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '4' }] })
    })
    const came: Delivery[] = []
    const receive = (delivery: Delivery): void => {
      came.push(delivery)
      void delivery.accept()
    }
    const refused: unknown = await first.consumer
      .subscribe({ source: topic, maxInFlight: 1 }, receive)
      .catch((error: unknown) => error)
    expect(isLiteBusError(refused, 'TOPOLOGY_MISMATCH')).toBe(true)
    expect(String(refused)).toMatch(/offset 0, .*found 4 to 6/u)
    await connect({ onOffsetOutOfRange: 'earliest' }).consumer.subscribe(
      { source: topic, maxInFlight: 1 },
      receive,
    )
    await eventually(
      async () => {
        expect(idsOf(came)).toEqual(['m-4', 'm-5'])
        expect(await lag()).toBe(0)
      },
      { expectation: 'what is left' },
    )
  }, 60_000)

  it('are committed over control records and aborted transactions, of which nothing is handed out', async () => {
    await using resources = new AsyncDisposableStack()
    const { space, topic, connect, lag } = await arrange(kafka, resources, 1)
    const producer = kafkaClient(space.url).producer({ transactionalId: topic, maxInFlightRequests: 1 })
    await producer.connect()
    resources.defer(() => producer.disconnect())
    for (const [id, outcome] of [
      ['first', 'commit'],
      ['never', 'abort'],
      ['second', 'commit'],
      ['nor this', 'abort'],
    ] as const) {
      const transaction = await producer.transaction()
      await transaction.send({ topic, messages: [{ value: id, headers: { 'message-id': id } }] })
      await transaction[outcome]()
    }
    const came: Delivery[] = []
    await connect().consumer.subscribe({ source: topic, maxInFlight: 1 }, (delivery) => {
      came.push(delivery)
      void delivery.accept()
    })
    await eventually(
      async () => {
        expect(idsOf(came)).toEqual(['first', 'second'])
        expect(await lag()).toBe(0)
      },
      { expectation: 'both transactions that were committed' },
    )
  }, 60_000)
})
