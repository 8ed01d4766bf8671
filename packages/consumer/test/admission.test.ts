import { describe, expect, it } from '@jest/globals'
import { bench, contractHeaders, done } from './arrange.ts'

describe('a body over the limit', () => {
  const big = { messageId: 'a', body: new Uint8Array(101).fill(32), headers: contractHeaders } as const

  it('is parked by the broker where it can, without a copy', async () => {
    const { broker, clock, consumer, put, waiting } = bench([
      { name: 'orders', deadLetter: 'native' },
      { name: 'native' },
    ])
    const subject = consumer(done, { maxMessageBytes: 100 })
    put(big)
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 1, inFlight: 0 })
    expect([waiting('native').length, broker.count('orders.dead').ready]).toEqual([1, 0])
    await subject.stop()
  })

  it('is copied as it came where the broker cannot', async () => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(done, { maxMessageBytes: 100 })
    put(big)
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead').map(({ body }) => body.byteLength)).toEqual([101])
    await subject.stop()
  })

  it('is no body of exactly the limit, and no body at all with the limit 0', async () => {
    const { clock, consumer, put, seen } = bench()
    const body = new TextEncoder().encode('{"id":"1"}'.padEnd(100))
    const subject = consumer(done, { maxMessageBytes: 100 })
    put({ messageId: 'a', body })
    await subject.start()
    await clock.advance(1)
    await subject.stop()
    const unlimited = consumer(done, { maxMessageBytes: 0 })
    put({ messageId: 'b', body: new TextEncoder().encode('{"id":"1"}'.padEnd(2_000_000)) })
    await unlimited.start()
    await clock.advance(1)
    await unlimited.stop()
    expect(seen).toHaveLength(2)
  })
})

describe('a message that is delivered again and again', () => {
  it('is parked beyond maxDeliveries without being handled, so that one that kills its process ends', async () => {
    const { broker, clock, consumer, order, seen, waiting } = bench()
    const subject = consumer(
      () => {
        broker.faults.redeliver('orders')
      },
      { maxDeliveries: 3 },
    )
    order('a')
    await subject.start()
    await clock.advance(10)
    expect(seen).toHaveLength(3)
    expect(waiting('orders.dead')).toMatchObject([
      { headers: { 'msg.failure-code': 'DELIVERY_LIMIT_EXCEEDED' } },
    ])
    expect(subject.counts()).toMatchObject({ deliveries: 4, pending_redelivery: 3, acked_dead_letter: 1 })
    await subject.stop()
  })
})
