import { describe, expect, it } from '@jest/globals'
import type { Delivery } from '@litebus/core'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'

describe('the memory transport', () => {
  it('delivers what was published, counts deliveries and settles once', async () => {
    const broker = memoryBroker({ queues: [{ name: 'orders' }] })
    await using transport = memoryTransport({ broker })
    const seen: Delivery[] = []
    const subscription = await transport.consumer.subscribe({ source: 'orders', maxInFlight: 1 }, (d) => {
      seen.push(d)
    })
    const outcomes = await transport.publisher.publish(
      ['a', 'b', 'c'].map((text) => ({
        destination: 'orders',
        messageId: text,
        body: new TextEncoder().encode(text),
        headers: {},
      })),
    )
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ status: 'confirmed' })))
    expect(seen.map(({ message }) => message.messageId)).toEqual(['a'])
    expect(await seen[0]?.returnToQueue()).toBe('settled')
    expect(await seen[0]?.accept()).toBe('revoked')
    await Promise.resolve()
    expect(seen.map(({ message, deliveryCount }) => [message.messageId, deliveryCount])).toEqual([
      ['a', 1],
      ['a', 2],
    ])
    broker.faults.dropConnections()
    expect(await seen[1]?.accept()).toBe('revoked')
    expect(await subscription.stop({ budgetMs: 0 })).toMatchObject({ unsettled: 0 })
    expect(broker.count('orders').ready).toBe(3)
  })
})
