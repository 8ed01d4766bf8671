import { expect, it } from '@jest/globals'
import { createConsumer, type Consumer, type ConsumerOptions } from '@litebus/consumer'
import { defineHandler, retry } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { allQueues } from '../../packages/transport-amqp/src/topology/delay-queues.ts'
import { queueArguments } from '../../packages/transport-amqp/src/topology/topology.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'
import { contractHeaders, orderBody, orderPlaced } from '../transports/message-path.ts'
import { keepLog } from '../transports/open-source.ts'

const brokerDelayed: ConsumerOptions['retry'] = {
  mode: 'brokerDelayed',
  ordering: 'allowReorder',
  maxAttempts: 4,
  backoff: { initialDelayMs: 300, multiplier: 1, jitter: 'none' },
}

await describeWithServices('a retry through a delay of RabbitMQ', ['rabbitmq'], ({ rabbitmq }) => {
  it('comes back after its delay with its attempt, until it succeeds', async () => {
    await using vhost = await rabbitmq.createVhost()
    const [work, dead] = [`${vhost.prefix}work`, `${vhost.prefix}dead`]
    await using transport = amqpTransport({
      url: vhost.url,
      topology: { queues: [{ name: work, delays: [300, 5000] }, { name: dead }] },
    })
    const runs: { readonly attempt: number; readonly at: number }[] = []
    await using consumer: Consumer = createConsumer({
      transport,
      source: work,
      retry: { ...brokerDelayed, deadLetterDestination: dead },
      handlers: [
        defineHandler({
          contract: orderPlaced,
          handle: (_, { attempt }) => {
            runs.push({ attempt, at: performance.now() })
            return attempt < 3 ? retry({ code: 'LATER' }) : undefined
          },
        }),
      ],
    })
    await consumer.start()
    await transport.publisher.publish([
      { destination: work, messageId: 'a', body: orderBody('a'), headers: { ...contractHeaders } },
    ])
    await eventually(
      () => {
        expect(consumer.counts()).toMatchObject({ deliveries: 3, acked_retry: 2, acked: 1, inFlight: 0 })
      },
      { expectation: 'the third attempt to succeed' },
    )
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    const waits = runs.slice(1).map(({ at }, index) => at - (runs[index]?.at ?? at))
    expect(waits.filter((wait) => wait < 298)).toEqual([])
  })

  it('whose queue is full holds the original, stops intake and says why, and goes on once there is room', async () => {
    await using vhost = await rabbitmq.createVhost()
    const [work, dead] = [`${vhost.prefix}work`, `${vhost.prefix}dead`]
    const topology = { mode: 'verify', queues: [{ name: work, delays: [600_000] }, { name: dead }] } as const
    const waiting = `${work}.delay.600000`
    const admin = await connect(vhost.url)
    const channel = await admin.createChannel()
    for (const queue of allQueues(topology)) {
      const limited = queue.name === waiting ? { ...queue, maxLength: 1 } : queue
      await channel.assertQueue(queue.name, { arguments: queueArguments(limited) })
    }
    await using transport = amqpTransport({ url: vhost.url, topology })
    const send = async (messageId: string, delayMs: number): Promise<string | undefined> =>
      (
        await transport.publisher.publish([
          {
            destination: work,
            messageId,
            body: orderBody(messageId),
            headers: { ...contractHeaders },
            delayMs,
          },
        ])
      )[0]?.status
    await eventually(
      async () => {
        expect(await send('filling', 1)).toBe('rejected')
      },
      { expectation: 'the queue of the delay to be full' },
    )
    const log = keepLog()
    const handled: string[] = []
    const start = async (holdLimitMs: number): Promise<Consumer> => {
      const consumer = createConsumer({
        transport,
        source: work,
        retry: {
          ...brokerDelayed,
          backoff: { kind: 'fixed', initialDelayMs: 600_000, maxDelayMs: 600_000, jitter: 'none' },
          deadLetterDestination: dead,
        },
        holdLimitMs,
        restartDelayMs: 100,
        logger: log.logger,
        handlers: [
          defineHandler({
            contract: orderPlaced,
            handle: ({ id }) => {
              handled.push(id)
              return id === 'good' ? undefined : retry({ code: 'LATER' })
            },
          }),
        ],
      })
      await consumer.start()
      return consumer
    }
    await using impatient = await start(1500)
    expect(await send('a', 0)).toBe('confirmed')
    await eventually(
      () => {
        expect(impatient.pausedBy).toEqual(['handoff'])
      },
      { expectation: 'intake to stand still', intervalMs: 5 },
    )
    expect(log.text()).toMatch(/handoff failed.*BROKER_REFUSED/u)
    await eventually(
      () => {
        expect(impatient.counts().returned).toBeGreaterThan(0)
      },
      { expectation: 'the original to go back' },
    )
    await impatient.stop({ budgetMs: 5000 })
    expect(impatient.counts()).toMatchObject({ acked_retry: 0, acked_dead_letter: 0 })
    await eventually(
      async () => {
        expect((await channel.checkQueue(work)).messageCount).toBe(1)
      },
      { expectation: 'the original to be in its queue' },
    )
    await using patient = await start(60_000)
    await eventually(
      () => {
        expect(patient.pausedBy).toEqual(['handoff'])
        expect(patient.counts().inFlight).toBe(1)
      },
      { expectation: 'intake to stand still again' },
    )
    expect(await send('good', 0)).toBe('confirmed')
    await eventually(
      async () => {
        expect((await channel.checkQueue(work)).messageCount).toBe(1)
      },
      { expectation: 'what comes meanwhile to wait' },
    )
    expect(handled).not.toContain('good')
    await channel.purgeQueue(waiting)
    await eventually(
      () => {
        expect(patient.counts()).toMatchObject({ deliveries: 2, acked_retry: 1, acked: 1, inFlight: 0 })
      },
      { expectation: 'everything to be taken', timeoutMs: 60_000 },
    )
    expect(patient.pausedBy).toEqual([])
    expect(handled).toContain('good')
    await eventually(
      async () => {
        expect((await channel.checkQueue(waiting)).messageCount).toBe(1)
        expect((await channel.checkQueue(work)).messageCount).toBe(0)
        expect((await channel.checkQueue(dead)).messageCount).toBe(0)
      },
      { expectation: 'one copy to wait' },
    )
    await admin.close()
  }, 90_000)

  it('whose queue is gone holds the original, stops intake and says why; in the end it goes back, and is retried when the queue is there again', async () => {
    await using vhost = await rabbitmq.createVhost()
    const [work, dead] = [`${vhost.prefix}work`, `${vhost.prefix}dead`]
    const topology = { queues: [{ name: work, delays: [300] }, { name: dead }] }
    const admin = await connect(vhost.url)
    const channel = await admin.createChannel()
    await using transport = amqpTransport({ url: vhost.url, topology })
    const log = keepLog()
    let fails = true
    await using consumer: Consumer = createConsumer({
      transport,
      source: work,
      retry: { ...brokerDelayed, deadLetterDestination: dead },
      holdLimitMs: 1500,
      restartDelayMs: 100,
      logger: log.logger,
      handlers: [
        defineHandler({
          contract: orderPlaced,
          handle: () => (fails ? retry({ code: 'LATER' }) : undefined),
        }),
      ],
    })
    await consumer.start()
    await transport.probe(work)
    // Both connections have declared everything by now.
    await channel.deleteQueue(`${work}.delay.300`)
    await transport.publisher.publish([
      { destination: work, messageId: 'a', body: orderBody('a'), headers: { ...contractHeaders } },
    ])
    await eventually(
      () => {
        expect(consumer.state).toBe('paused')
      },
      { expectation: 'intake to stand still' },
    )
    expect(log.text()).toMatch(/handoff failed.*DESTINATION_MISSING|UNROUTABLE/u)
    await eventually(
      () => {
        expect(consumer.counts()).toMatchObject({ returned: 1, acked_retry: 0, acked_dead_letter: 0 })
        expect(consumer.state).toBe('suspended')
      },
      { expectation: 'the original to go back' },
    )
    // The queue of work is there all the time: it is that of the delay which a new subscription waits for.
    const before = consumer.counts().deliveries
    await transport.probe(work)
    await expect(transport.probe(work, { delayMs: 300 })).rejects.toMatchObject({ code: 'TOPOLOGY_MISMATCH' })
    expect([consumer.state, consumer.counts().deliveries]).toEqual(['suspended', before])
    for (const queue of allQueues(topology)) {
      await channel.assertQueue(queue.name, { arguments: queueArguments(queue) })
    }
    await eventually(
      () => {
        expect(consumer.counts().acked_retry).toBeGreaterThan(0)
      },
      { expectation: 'a retry copy to be taken', timeoutMs: 60_000 },
    )
    fails = false
    await eventually(
      () => {
        expect(consumer.counts()).toMatchObject({ acked: 1, inFlight: 0 })
      },
      { expectation: 'it to be handled', timeoutMs: 60_000 },
    )
    expect((await channel.checkQueue(work)).messageCount).toBe(0)
    await admin.close()
  }, 90_000)
})
