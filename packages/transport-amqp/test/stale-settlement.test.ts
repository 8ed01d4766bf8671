import { randomUUID } from 'node:crypto'
import { expect, it } from '@jest/globals'
import type { Delivery } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { eventually, startTcpProxy } from '../../../integration-tests/services/index.ts'
import { readClientFrames, type ClientMethod } from './support/frames.ts'

await describeWithServices('a delivery of a connection that is gone', ['rabbitmq'], ({ rabbitmq }) => {
  it.each(['quorum', 'classic'] as const)(
    'never reaches the broker when it is settled during the outage or after the reconnect (%s queue)',
    async (kind) => {
      await using vhost = await rabbitmq.createVhost()
      const settled: ClientMethod[] = []
      let connections = 0
      await using proxy = await startTcpProxy({
        port: Number(new URL(vhost.url).port || 5672),
        tap: () => {
          connections += 1
          return readClientFrames((method) => {
            if (method.name !== 'other') settled.push(method)
          })
        },
      })
      const queue = `${vhost.prefix}held-${randomUUID()}`
      const closed: string[] = []
      await using transport = amqpTransport({
        url: proxy.through(vhost.url),
        reconnect: { initialDelayMs: 10, maxDelayMs: 50 },
        topology: { queues: [{ name: queue, kind }] },
        logger: {
          debug: () => undefined,
          info: () => undefined,
          error: () => undefined,
          warn: (text) => closed.push(text),
        },
      })
      await transport.publisher.publish(
        Array.from({ length: 9 }, (_, index) => ({
          destination: queue,
          messageId: String(index),
          body: Buffer.from('{}'),
          headers: {},
        })),
      )
      const deliveries: Delivery[] = []
      const subscription = await transport.consumer.subscribe(
        { source: queue, maxInFlight: 9 },
        (delivery) => {
          deliveries.push(delivery)
        },
      )
      const came = (count: number): Promise<void> =>
        eventually(
          () => {
            expect(deliveries).toHaveLength(count)
          },
          { expectation: `${String(count)} deliveries`, intervalMs: 5 },
        )
      await came(9)
      const old = [...deliveries]
      const settle = (from: number): Promise<unknown[]> =>
        Promise.all([
          old[from]?.accept(),
          old[from + 1]?.returnToQueue(),
          old[from + 2]?.discard({ reason: 'TEST' }),
        ])
      const held = old[6]?.returnToQueue({ delayMs: 60_000 })
      proxy.refuse()
      proxy.cut()
      await eventually(
        () => {
          expect(subscription.state).toBe('recovering')
        },
        { expectation: 'the loss to be noticed', intervalMs: 5 },
      )
      const before = connections
      expect(await settle(0)).toEqual(['revoked', 'revoked', 'revoked'])
      expect(await held).toBe('revoked')
      proxy.accept()
      await came(18)
      expect(connections).toBeGreaterThan(before)
      expect(await settle(3)).toEqual(['revoked', 'revoked', 'revoked'])
      expect(settled).toEqual([])

      // The new deliveries have the same numbers as the old ones had: each is settled by itself alone.
      const fresh = deliveries.slice(9)
      expect(fresh.every(({ redelivered }) => redelivered)).toBe(true)
      for (const delivery of fresh) expect(await delivery.accept()).toBe('settled')
      await eventually(
        () => {
          expect(settled.map(({ name, deliveryTag }) => `${name} ${String(deliveryTag)}`)).toEqual(
            Array.from({ length: 9 }, (_, index) => `basic.ack ${String(index + 1)}`),
          )
        },
        { expectation: 'nine acknowledgements on the wire', intervalMs: 5 },
      )
      expect(await settle(0)).toEqual(['revoked', 'revoked', 'revoked'])
      await subscription.stop({ budgetMs: 5000 })
      expect(settled).toHaveLength(9)
      expect(closed.filter((text) => text.includes('closed a consuming channel'))).toEqual([])
      const admin = await connect(vhost.url)
      const channel = await admin.createChannel()
      expect((await channel.checkQueue(queue)).messageCount).toBe(0)
      await admin.close()
    },
  )
})
