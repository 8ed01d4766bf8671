import { describe, expect, it } from '@jest/globals'
import { bench, orderPlaced } from './arrange.ts'

describe('a destination that cannot be reached', () => {
  it('for 15 minutes dead-letters nothing, loses nothing, spends no attempt and stops no other destination', async () => {
    const { broker, clock, logged, outbox, relay, stands, transport, waiting } = bench([{ name: 'other' }])
    let blocked = true
    const half = {
      ...transport,
      publisher: {
        publish: async (messages: Parameters<typeof transport.publisher.publish>[0]) => {
          const outcomes = await transport.publisher.publish(messages)
          return outcomes.map((outcome, index) =>
            blocked && messages[index]?.destination === 'orders'
              ? ({
                  status: 'unavailable',
                  failure: { category: 'DEPENDENCY', code: 'CONNECTION_LOST' },
                } as const)
              : outcome,
          )
        },
      },
    }
    const subject = relay({ transport: half })
    const ids: string[] = []
    for (let number = 0; number < 50; number++) {
      ids.push((await outbox.enqueue(orderPlaced, { id: String(number) })).id)
    }
    subject.start()
    for (let minute = 0; minute < 15; minute++) {
      await outbox.enqueue(orderPlaced, { id: `other ${String(minute)}` }, { topic: 'other' })
      await clock.advance(60_000)
      expect(waiting('other')).toHaveLength(minute + 1)
    }
    expect(new Set(await Promise.all(ids.map(stands)))).toEqual(new Set(['awaiting 0']))
    expect(transport.probes.length).toBeLessThan(100)
    broker.declareQueue({ name: 'orders' })
    blocked = false
    await clock.advance(16_000)
    expect(waiting('orders')).toHaveLength(50)
    expect(new Set(await Promise.all(ids.map(stands)))).toEqual(new Set(['succeeded 1']))
    expect(logged.map(({ message }) => message)).toEqual([
      'destination is unavailable: its messages wait',
      'destination is available again',
    ])
    await subject.stop()
  })

  it('because the broker is down is not asked for every message, and everything goes out when it is back', async () => {
    const { broker, clock, outbox, relay, transport, waiting } = bench()
    broker.faults.setReachable(false)
    broker.faults.dropConnections()
    const items = Array.from({ length: 300 }, (_, index) => ({
      contract: orderPlaced,
      message: { id: String(index) },
    }))
    await outbox.enqueueBatch(items)
    const subject = relay()
    subject.start()
    await clock.advance(300_000)
    expect(transport.probes.length).toBeLessThan(40)
    broker.faults.setReachable(true)
    await clock.advance(20_000)
    expect(waiting('orders')).toHaveLength(300)
    await subject.stop()
  })

  it('because the broker takes no publishes gives attempts back after the timeout', async () => {
    const { broker, clock, outbox, relay, stands, waiting } = bench()
    broker.faults.setBlocked(true)
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    const subject = relay({ publishTimeoutMs: 5000 })
    subject.start()
    await clock.advance(600_000)
    expect(waiting('orders')).toEqual([])
    broker.faults.setBlocked(false)
    await clock.advance(20_000)
    expect(await stands(receipt.id)).toBe('succeeded 1')
    await subject.stop()
  })
})
