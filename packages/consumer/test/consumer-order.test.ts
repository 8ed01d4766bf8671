import { describe, expect, it } from '@jest/globals'
import { retry } from '@litebus/core'
import { bench, contractHeaders, gate, type Sent } from './arrange.ts'

const keyed = (id: string, key: string): Sent => ({
  messageId: id,
  body: new TextEncoder().encode(JSON.stringify({ id })),
  headers: { ...contractHeaders, 'litebus-ordering-key': key },
})

describe('deliveries of one ordering key', () => {
  it.each([
    ['the header of the message', (id: string): Sent => keyed(id, 'k')],
    [
      'the header in another case and as bytes',
      (id: string): Sent => ({
        ...keyed(id, 'k'),
        headers: { ...contractHeaders, 'LiteBus-Ordering-Key': new TextEncoder().encode('k') },
      }),
    ],
    [
      'the group of the broker',
      (id: string): Sent => ({ ...keyed(id, 'k'), headers: contractHeaders, orderingKey: 'k' }),
    ],
  ])('come one after another, by %s, and others beside them', async (_name, message) => {
    const { clock, consumer, put, seen } = bench()
    const first = gate()
    const subject = consumer(({ id }) => (id === 'a1' ? first.promise : undefined), { concurrency: 10 })
    put(message('a1'), message('a2'), keyed('b1', 'other'), message('a3'))
    await subject.start()
    await clock.advance(1)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1', 'b1'])
    first.open()
    await clock.advance(1)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1', 'b1', 'a2', 'a3'])
    await subject.stop()
  })

  it('without a key run beside each other', async () => {
    const { clock, consumer, put, seen } = bench()
    const first = gate()
    const subject = consumer(() => first.promise, { concurrency: 3 })
    put(...['a', 'b', 'c'].map((id) => ({ ...keyed(id, ''), headers: contractHeaders })))
    await subject.start()
    await clock.advance(1)
    expect(seen).toHaveLength(3)
    first.open()
    await subject.stop()
  })

  it('go back unhandled behind one that went back, and come again in order', async () => {
    const { broker, clock, consumer, put, seen } = bench([{ name: 'orders', ordered: true }])
    const subject = consumer(
      ({ id }) => (id === 'a1' && seen.length === 1 ? retry({ code: 'LATER', afterMs: 1000 }) : undefined),
      {
        concurrency: 10,
        retry: {
          mode: 'pausePartition',
          ordering: 'preserve',
          destinationOrdered: true,
          deadLetterDestination: 'orders.dead',
        },
      },
    )
    put(keyed('a1', 'a'), keyed('a2', 'a'), keyed('a3', 'a'))
    await subject.start()
    await clock.advance(500)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1'])
    expect(subject.counts()).toMatchObject({ deliveries: 3, returned: 3, inFlight: 0 })
    await clock.advance(1000)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1', 'a1', 'a2', 'a3'])
    expect(broker.count('orders').ready).toBe(0)
    await subject.stop()
  })

  it('go on behind one that was parked, because it will not come again', async () => {
    const { clock, consumer, put, seen, waiting } = bench()
    const subject = consumer(
      ({ id }) => {
        if (id === 'a2') throw new Error('poison')
      },
      { concurrency: 10 },
    )
    put(keyed('a1', 'a'), keyed('a2', 'a'), keyed('a3', 'a'))
    await subject.start()
    await clock.advance(1)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1', 'a2', 'a3'])
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('wait behind a handoff that fails, in order', async () => {
    const { broker, clock, consumer, put, seen } = bench()
    broker.faults.failNextPublish({ status: 'rejected', times: 3 })
    const subject = consumer(
      ({ id }) => {
        if (id === 'a1') throw new Error('poison')
      },
      { concurrency: 10 },
    )
    put(keyed('a1', 'a'), keyed('a2', 'a'))
    await subject.start()
    await clock.advance(100)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1'])
    await clock.advance(10_000)
    expect(seen.map(({ order }) => order.id)).toEqual(['a1', 'a2'])
    await subject.stop()
  })
})

it('handles no more at a time than it may', async () => {
  const { broker, clock, consumer, order, seen } = bench()
  const end = gate()
  const subject = consumer(() => end.promise, { concurrency: 2 })
  order('a', 'b', 'c', 'd')
  await subject.start()
  await clock.advance(1)
  expect([seen.length, broker.count('orders')]).toEqual([2, { ready: 2, unsettled: 2, delayed: 0 }])
  end.open()
  await clock.advance(1)
  expect(subject.counts().acked).toBe(4)
  await subject.stop()
})
