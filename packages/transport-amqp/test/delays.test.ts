import { describe, expect, it } from '@jest/globals'
import type { OutboundMessage } from '@litebus/core'
import { amqpTransport, type AmqpTopology } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { eventually } from '../../../integration-tests/services/index.ts'
import { topologyFaults } from '../src/topology/check-topology.ts'
import { allQueues, delayFor } from '../src/topology/delay-queues.ts'
import { queueArguments } from '../src/topology/topology.ts'

const delays = [200, 400, 800, 1200, 1600]

function delayed(destination: string, messageId: string, delayMs: number): OutboundMessage {
  return { destination, messageId, body: Buffer.from(messageId), headers: {}, delayMs }
}

describe('delays of a queue', () => {
  it('are queues of their own, which give back at least once', () => {
    const [queue, first, ...rest] = allQueues({
      queues: [{ name: 'work', kind: 'classic', delays: [50, 100] }],
    })
    expect([queue?.name, first?.name, rest.map(({ name }) => name)]).toEqual([
      'work',
      'work.delay.50',
      ['work.delay.100'],
    ])
    expect(first === undefined ? {} : queueArguments(first)).toEqual({
      'x-queue-type': 'quorum',
      'x-message-ttl': 50,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'work',
      'x-dead-letter-strategy': 'at-least-once',
    })
  })

  it('are never shorter than what is asked for', () => {
    const queue = { name: 'work', delays: [1000, 10, 100] }
    expect([1, 10, 11, 100, 999, 1000].map((delayMs) => delayFor(queue, delayMs))).toEqual([
      10, 10, 100, 100, 1000, 1000,
    ])
    expect(delayFor(queue, 1001)).toBeUndefined()
    expect(delayFor(undefined, 1)).toBeUndefined()
  })

  it.each([
    [[0], /delays\[0\]/u],
    [[1.5], /delays\[0\]/u],
    [[2 ** 32], /delays\[0\]/u],
    [[10, 10], /found twice: work\.delay\.10/u],
    [Array.from({ length: 33 }, (_, index) => index + 1), /at most 32 entries, found 33/u],
  ])('refuse %j', (wrong, fault) => {
    expect(topologyFaults({ queues: [{ name: 'work', delays: wrong }] }).join('; ')).toMatch(fault)
  })
})

await describeWithServices('a delayed publish to RabbitMQ', ['rabbitmq'], ({ rabbitmq }) => {
  it('of 1000 messages over five delays comes back, none early, in the order of its delay, held up by no longer one', async () => {
    await using vhost = await rabbitmq.createVhost()
    const work = `${vhost.prefix}work`
    await using transport = amqpTransport({ url: vhost.url, topology: { queues: [{ name: work, delays }] } })
    expect(transport.capabilitiesOf(work)).toMatchObject({ delayedDelivery: true, maxDelayMs: 1600 })
    const arrived: { readonly delay: number; readonly index: number; readonly at: number }[] = []
    const subscription = await transport.consumer.subscribe(
      { source: work, maxInFlight: 500 },
      (delivery) => {
        const [delay, index] = Buffer.from(delivery.message.body).toString().split('/').map(Number)
        arrived.push({ delay: delay ?? 0, index: index ?? 0, at: performance.now() })
        void delivery.accept()
      },
    )
    const messages = Array.from({ length: 1000 }, (_, index) => {
      const delay = delays[index % delays.length] ?? 0
      return delayed(work, `${String(delay)}/${String(index)}`, delay)
    })
    const publishedAt = performance.now()
    const outcomes = await transport.publisher.publish(messages)
    expect(outcomes.filter(({ status }) => status !== 'confirmed')).toEqual([])
    await eventually(
      () => {
        expect(arrived).toHaveLength(1000)
      },
      { expectation: 'all of them' },
    )
    await subscription.stop({ budgetMs: 2000 })
    // The broker counts whole milliseconds of its own clock.
    expect(arrived.filter(({ delay, at }) => at - publishedAt < delay - 2)).toEqual([])
    for (const delay of delays) {
      const indexes = arrived.filter((one) => one.delay === delay).map(({ index }) => index)
      expect(indexes).toEqual(indexes.toSorted((a, b) => a - b))
    }
    const lastOfShortest = arrived.findLastIndex(({ delay }) => delay === delays[0])
    expect(lastOfShortest).toBeLessThan(arrived.findIndex(({ delay }) => delay === delays.at(-1)))
  }, 60_000)

  it('is refused beyond the longest delay, where its queue is full, and where it is missing, and never dropped', async () => {
    await using vhost = await rabbitmq.createVhost()
    const [full, missing] = [`${vhost.prefix}full`, `${vhost.prefix}missing`]
    const topology: AmqpTopology = {
      mode: 'verify',
      queues: [
        { name: full, delays: [60_000] },
        { name: missing, delays: [60_000] },
      ],
    }
    const admin = await connect(vhost.url)
    const channel = await admin.createChannel()
    for (const queue of allQueues(topology)) {
      if (queue.name === `${missing}.delay.60000`) continue
      await channel.assertQueue(queue.name, {
        arguments: queueArguments(queue.name === `${full}.delay.60000` ? { ...queue, maxLength: 1 } : queue),
      })
    }
    await using transport = amqpTransport({ url: vhost.url, topology })
    const publish = async (message: OutboundMessage): Promise<unknown> => {
      const [outcome] = await transport.publisher.publish([message])
      return outcome
    }
    expect(await publish(delayed(full, 'too long', 60_001))).toMatchObject({ status: 'rejected' })
    await eventually(
      async () => {
        expect(await publish(delayed(full, 'full', 1000))).toMatchObject({ status: 'rejected' })
      },
      { expectation: 'a full queue to refuse' },
    )
    expect(await publish(delayed(missing, 'missing', 1000))).toMatchObject({
      status: 'unavailable',
      failure: { code: 'TOPOLOGY_MISMATCH' },
    })
    expect(await publish({ ...delayed(missing, 'at once', 0) })).toEqual({ status: 'confirmed' })
    await admin.close()
  })

  it('is taken without a new connection once its missing queue was created, and a probe asks for that queue', async () => {
    await using vhost = await rabbitmq.createVhost()
    const work = `${vhost.prefix}work`
    const topology: AmqpTopology = { mode: 'verify', queues: [{ name: work, delays: [60_000] }] }
    const admin = await connect(vhost.url)
    const channel = await admin.createChannel()
    const [queue, waiting] = allQueues(topology)
    if (queue === undefined || waiting === undefined)
      throw new Error('expected a queue and that of its delay')
    await channel.assertQueue(queue.name, { arguments: queueArguments(queue) })
    await using transport = amqpTransport({ url: vhost.url, topology })
    const publish = async (messageId: string): Promise<unknown> =>
      (await transport.publisher.publish([delayed(work, messageId, 1000)]))[0]
    await transport.probe(work)
    await expect(transport.probe(work, { delayMs: 1000 })).rejects.toMatchObject({
      code: 'TOPOLOGY_MISMATCH',
    })
    await channel.assertQueue(waiting.name, { arguments: queueArguments(waiting) })
    await transport.probe(work, { delayMs: 1000 })
    expect(await publish('a')).toEqual({ status: 'confirmed' })
    // One that is deleted later is seen as well, and so is its return by nothing but publishes.
    await channel.deleteQueue(waiting.name)
    await expect(transport.probe(work, { delayMs: 1000 })).rejects.toMatchObject({
      code: 'TOPOLOGY_MISMATCH',
    })
    await using late = amqpTransport({ url: vhost.url, topology })
    await late.probe(work)
    expect(await late.publisher.publish([delayed(work, 'b', 1000)])).toMatchObject([
      { status: 'unavailable' },
    ])
    await channel.assertQueue(waiting.name, { arguments: queueArguments(waiting) })
    await eventually(
      async () => {
        expect(await late.publisher.publish([delayed(work, 'b', 1000)])).toEqual([{ status: 'confirmed' }])
      },
      { expectation: 'the queue to be noticed' },
    )
    await admin.close()
  })
})
