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
      },
      { expectation: 'the original to go back' },
    )
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
