import { expect, it } from '@jest/globals'
import type { Delivery, OutboundMessage } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { eventually } from '../../../integration-tests/services/index.ts'

function to(destination: string, messageId: string): OutboundMessage {
  return { destination, messageId, body: Buffer.from(messageId), headers: {} }
}

const quick = { reconnect: { initialDelayMs: 10, maxDelayMs: 100 } } as const

await describeWithServices(
  'the AMQP transport on a broker of its own',
  ['startRabbitNode'],
  ({ startRabbitNode }) => {
    it('waits while the broker is blocked by an alarm, acknowledges meanwhile, and recovers', async () => {
      await using node = await startRabbitNode()
      const gauges: (() => number | undefined)[] = []
      await using transport = amqpTransport({
        url: node.url,
        ...quick,
        publishTimeoutMs: 1500,
        topology: { queues: [{ name: 'blocked', kind: 'classic' }] },
        telemetry: {
          count: () => undefined,
          record: () => undefined,
          startSpan: () => ({ setAttributes: () => undefined, fail: () => undefined, end: () => undefined }),
          observe: ({ name }, read) => {
            if (name === 'litebus.transport.connection.blocked') gauges.push(read)
            return () => undefined
          },
        },
      })
      const held: Delivery[] = []
      await transport.consumer.subscribe({ source: 'blocked', maxInFlight: 5 }, (delivery) => {
        held.push(delivery)
      })
      expect(await transport.publisher.publish([to('blocked', 'before')])).toEqual([{ status: 'confirmed' }])
      await eventually(
        () => {
          expect(held).toHaveLength(1)
        },
        { expectation: 'the first delivery' },
      )
      await node.ctl(['set_vm_memory_high_watermark', '0.000001'])
      const [first] = await transport.publisher.publish([to('blocked', 'sent into the alarm')])
      expect(first?.status).toBe('ambiguous')
      expect(gauges.map((read) => read())).toContain(1)
      expect(await transport.publisher.publish([to('blocked', 'not sent')])).toEqual([
        { status: 'unavailable', failure: { category: 'THROTTLED', code: 'CONNECTION_BLOCKED' } },
      ])
      await expect(transport.probe()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' })
      expect(await held[0]?.accept()).toBe('settled')
      const waiting = transport.publisher.publish([to('blocked', 'waits')])
      await node.ctl(['set_vm_memory_high_watermark', '0.4'])
      const outcome = await waiting
      await eventually(
        async () => {
          expect(await transport.publisher.publish([to('blocked', 'after')])).toEqual([
            { status: 'confirmed' },
          ])
        },
        { expectation: 'publishes to be confirmed again' },
      )
      expect(['confirmed', 'unavailable']).toContain(outcome[0]?.status)
      expect(gauges.map((read) => read())).not.toContain(1)
    }, 120_000)

    it('rejects what is larger than the broker takes, and nothing else', async () => {
      await using node = await startRabbitNode()
      await node.ctl(['eval', 'application:set_env(rabbit, max_message_size, 1000).'])
      await using transport = amqpTransport({
        url: node.url,
        ...quick,
        topology: { queues: [{ name: 'q' }] },
      })
      const sized = (bytes: number): OutboundMessage => ({
        ...to('q', String(bytes)),
        body: Buffer.alloc(bytes),
      })
      expect(await transport.publisher.publish([sized(1000)])).toEqual([{ status: 'confirmed' }])
      const [large, small] = await transport.publisher.publish([sized(1001), sized(999)])
      expect(large).toMatchObject({ status: 'rejected', failure: { code: 'MESSAGE_TOO_LARGE' } })
      expect(small?.status).not.toBe('rejected')
      await eventually(
        async () => {
          expect(await transport.publisher.publish([sized(998)])).toEqual([{ status: 'confirmed' }])
        },
        { expectation: 'publishes to be confirmed again' },
      )
    }, 120_000)

    it('survives a restart of the broker without a manual step', async () => {
      await using node = await startRabbitNode()
      await using transport = amqpTransport({
        url: node.url,
        ...quick,
        topology: { queues: [{ name: 'durable' }] },
      })
      const seen = new Set<string>()
      await transport.consumer.subscribe({ source: 'durable', maxInFlight: 50 }, (delivery) => {
        seen.add(delivery.message.messageId ?? '')
        void delivery.accept()
      })
      const confirmed: string[] = []
      const publishing = new AbortController()
      const work = (async () => {
        for (let round = 0; !publishing.signal.aborted; round += 1) {
          const batch = Array.from({ length: 20 }, (_, slot) =>
            to('durable', `${String(round)}-${String(slot)}`),
          )
          const outcomes = await transport.publisher.publish(batch)
          batch.forEach(({ messageId }, slot) => {
            if (outcomes[slot]?.status === 'confirmed') confirmed.push(messageId)
          })
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      })()
      await eventually(
        () => {
          expect(confirmed.length).toBeGreaterThan(100)
        },
        {
          expectation: 'confirmed messages',
        },
      )
      await node.restart()
      const before = confirmed.length
      await eventually(
        () => {
          expect(confirmed.length).toBeGreaterThan(before + 100)
        },
        {
          expectation: 'confirmed messages after the restart',
          timeoutMs: 60_000,
        },
      )
      publishing.abort()
      await work
      await eventually(
        () => {
          expect(confirmed.filter((id) => !seen.has(id))).toEqual([])
        },
        {
          expectation: 'every confirmed message to arrive',
          timeoutMs: 30_000,
        },
      )
    }, 180_000)
  },
)
