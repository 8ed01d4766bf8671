import { expect, it } from '@jest/globals'
import { createOutboxProcessor } from '@litebus/outbox'
import { amqpTransport } from '@litebus/transport-amqp'
import { openOrdersOutbox, orderPlaced } from '../relay/orders-outbox.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

await describeWithServices(
  'an outbox that relays to a broker with a memory alarm',
  ['postgres', 'startRabbitNode'],
  ({ postgres, startRabbitNode }) => {
    it('waits, spends no attempt, and goes on when the alarm is over', async () => {
      await using node = await startRabbitNode()
      await using orders = await openOrdersOutbox(postgres)
      const waits: string[] = []
      const log = (text: string): void => {
        waits.push(text)
      }
      await using transport = amqpTransport({
        url: node.url,
        topology: { queues: [{ name: 'orders' }] },
      })
      await using relay = createOutboxProcessor({
        store: orders.storage.outbox,
        transport,
        maxAttempts: 1,
        publishTimeoutMs: 500,
        circuitBreaker: { initialDelayMs: 100, maxDelayMs: 400 },
        logger: { debug: log, info: log, warn: log, error: log },
      })
      await transport.probe('orders')
      await node.ctl(['set_vm_memory_high_watermark', '0.000001'])
      await orders.outbox.enqueueBatch(
        Array.from({ length: 200 }, (_, number) => ({
          contract: orderPlaced,
          message: { number },
          options: { topic: 'orders' },
        })),
      )
      relay.start()
      await eventually(
        () => {
          expect(waits).toContain('destination is unavailable: its messages wait')
        },
        { expectation: 'the relay to notice the alarm' },
      )
      await eventually(
        async () => {
          expect(await orders.storage.outbox.statusCounts()).toMatchObject({ awaiting: 200, leased: 0 })
        },
        { expectation: 'every message to wait', intervalMs: 10 },
      )
      expect(await orders.allStand('orders')).toEqual(['awaiting 0'])
      await node.ctl(['set_vm_memory_high_watermark', '0.4'])
      // With one attempt each, a message that had spent it would be parked.
      await eventually(
        async () => {
          expect(await orders.allStand('orders')).toEqual(['succeeded'])
        },
        { expectation: 'every message to be published', timeoutMs: 60_000 },
      )
      expect(waits.at(-1)).toBe('destination is available again')
    }, 120_000)
  },
)
