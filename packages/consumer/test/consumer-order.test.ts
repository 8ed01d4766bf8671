import { describe, expect, it } from '@jest/globals'
import { retry, type Delivery, type Transport } from '@litebus/core'
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

const preserve = {
  mode: 'inline',
  ordering: 'preserve',
  destinationOrdered: true,
  maxAttempts: 3,
  backoff: { jitter: 'none' },
  deadLetterDestination: 'orders.dead',
} as const

describe('where order is to be preserved', () => {
  it.each([
    ['pushed ahead and handled side by side', { concurrency: 10 }],
    ['pushed ahead further than it is handled', { concurrency: 1, prefetch: 10 }],
  ])('nothing without a key that is %s overtakes what goes back', async (_name, flow) => {
    const { clock, consumer, order, seen } = bench([{ name: 'orders', ordered: true }])
    const subject = consumer(
      ({ id }, { attempt }) => (id === 'a' && attempt < 3 ? retry({ code: 'LATER' }) : undefined),
      { ...flow, retry: preserve },
    )
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(5000)
    expect(seen.map(({ order: { id } }) => id)).toEqual(['a', 'a', 'a', 'b', 'c'])
    expect(seen.map(({ context }) => context.attempt)).toEqual([1, 2, 3, 1, 1])
    await subject.stop()
  })

  it('a partition is handled in sequence whatever the keys, and others beside it', async () => {
    const { clock, consumer, put, seen, transport } = bench([{ name: 'orders', ordered: true }])
    const first = gate()
    const subject = consumer(({ id }) => (id === 'a1' ? first.promise : undefined), {
      transport: altered(transport, ({ message, ...delivery }) => ({
        ...delivery,
        message,
        partition: message.messageId?.slice(0, 1) ?? '',
      })),
      concurrency: 10,
      retry: preserve,
    })
    put(keyed('a1', 'k1'), keyed('a2', 'k2'), keyed('b1', 'k1'))
    await subject.start()
    await clock.advance(1)
    expect(seen.map(({ order: { id } }) => id)).toEqual(['a1', 'b1'])
    first.open()
    await clock.advance(1)
    expect(seen.map(({ order: { id } }) => id)).toEqual(['a1', 'b1', 'a2'])
    await subject.stop()
  })

  it('and nothing can be paused, nothing may be pushed ahead', () => {
    const { consumer, transport } = bench([{ name: 'orders', ordered: true }])
    const unpausable = unable(transport)
    const retried = { transport: unpausable, retry: preserve }
    expect(() => consumer(() => undefined, { ...retried, concurrency: 2 })).toThrow(
      /ordering 'preserve' contradicts concurrency 2.*\n?.*contradicts prefetch 2/s,
    )
    expect(() => consumer(() => undefined, { ...retried, prefetch: 3 })).toThrow(/contradicts prefetch 3/)
  })

  it('and nothing can be paused, what failed is held where it is, and its attempts are counted', async () => {
    const { broker, clock, consumer, order, seen, transport, waiting } = bench([
      { name: 'orders', ordered: true },
    ])
    const subject = consumer(({ id }) => (id === 'a' ? retry({ code: 'LATER' }) : undefined), {
      transport: unable(transport),
      retry: preserve,
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(2999)
    expect(broker.count('orders')).toEqual({ ready: 1, unsettled: 1, delayed: 0 })
    await clock.advance(1)
    expect(seen.map(({ context }) => context.attempt)).toEqual([1, 2, 3, 1])
    expect(waiting('orders.dead').map(({ messageId }) => messageId)).toEqual(['a'])
    expect(subject.counts()).toMatchObject({ deliveries: 2, acked_dead_letter: 1, acked: 1, returned: 0 })
    await subject.stop()
  })
})

/** The same transport, whose deliveries pass through a change. */
function altered(transport: Transport, alter: (delivery: Delivery) => Delivery): Transport {
  return {
    ...transport,
    consumer: {
      subscribe: (options, onDelivery) =>
        transport.consumer.subscribe(options, (delivery) => {
          onDelivery(alter(delivery))
        }),
    },
  }
}

/** The same transport, which cannot pause and carries no attempts, as RabbitMQ. */
function unable(transport: Transport): Transport {
  const withoutAttempts = altered(
    transport,
    (delivery) =>
      Object.fromEntries(
        Object.entries(delivery).filter(([name]) => name !== 'attempt'),
      ) as unknown as Delivery,
  )
  return {
    ...withoutAttempts,
    capabilitiesOf: (name) => ({ ...transport.capabilitiesOf(name), pausable: false }),
  }
}

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
