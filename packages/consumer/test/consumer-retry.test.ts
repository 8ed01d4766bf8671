import { describe, expect, it } from '@jest/globals'
import { retry } from '@litebus/core'
import { bench, contractHeaders } from './arrange.ts'

const park = { deadLetterDestination: 'orders.dead' } as const
const later = () => retry({ code: 'LATER' })

describe('inline retry', () => {
  it('runs the handler again here after the backoff, counting attempts, and then parks', async () => {
    const { clock, consumer, order, seen, waiting } = bench()
    const subject = consumer(later, {
      retry: { ...park, mode: 'inline', maxAttempts: 3, backoff: { jitter: 'none' } },
    })
    order('a')
    await subject.start()
    await clock.advance(999)
    expect(seen).toHaveLength(1)
    await clock.advance(2001)
    expect(seen.map(({ context }) => context.attempt)).toEqual([1, 2, 3])
    expect(waiting('orders.dead')).toMatchObject([{ headers: { 'msg.retry-attempt': '3' } }])
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1 })
    await subject.stop()
  })

  it.each([
    [250, 250],
    [Number.NaN, 0],
    [-5, 0],
  ])('waits for the delay that the handler asks for: %p ms is %p ms', async (afterMs, delayMs) => {
    const { clock, consumer, order, seen } = bench()
    const subject = consumer(() => (seen.length === 1 ? retry({ code: 'LATER', afterMs }) : undefined), {
      retry: { ...park, mode: 'inline' },
    })
    order('a')
    await subject.start()
    await clock.advance(Math.max(0, delayMs - 1))
    expect(seen).toHaveLength(delayMs === 0 ? 2 : 1)
    await clock.advance(1)
    expect(seen).toHaveLength(2)
    await subject.stop()
  })

  it('longer than a delivery may be held goes back once, keeps its attempts, and does not loop', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(() => retry({ code: 'LATER', afterMs: 3_600_000 }), {
      retry: { ...park, mode: 'inline' },
      holdLimitMs: 60_000,
    })
    order('a')
    await subject.start()
    await clock.advance(59_999)
    expect([seen.length, broker.count('orders').unsettled]).toEqual([1, 1])
    await clock.advance(2000)
    expect(subject.counts()).toMatchObject({ deliveries: 2, returned: 1, inFlight: 1 })
    expect(seen.map(({ context }) => context.attempt)).toEqual([1, 2])
    await subject.stop()
  })

  it('with a hold limit of 0 goes back with a pause', async () => {
    const { clock, consumer, order, seen } = bench()
    const subject = consumer(later, { retry: { ...park, mode: 'inline' }, holdLimitMs: 0 })
    order('a')
    await subject.start()
    await clock.advance(3500)
    expect(seen).toHaveLength(4)
    await subject.stop()
  })

  it('gives the delivery back when a stop comes during the wait', async () => {
    const { broker, clock, consumer, order } = bench()
    const subject = consumer(later, { retry: { ...park, mode: 'inline' } })
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await clock.advance(1)
    expect((await stopped).settlements).toMatchObject({ returned: 1, inFlight: 0 })
    expect(broker.count('orders').ready).toBe(1)
  })
})

describe('retry copies', () => {
  it('count on from what the headers say, replace the headers of the hop before, and keep the first failure', async () => {
    const { clock, consumer, put, seen, waiting } = bench()
    const subject = consumer(later, {
      retry: {
        ...park,
        mode: 'retryDestination',
        ordering: 'allowReorder',
        retryDestination: 'orders.retry',
        maxAttempts: 9,
        backoff: { initialDelayMs: 0 },
      },
    })
    const first = '2025-12-31T00:00:00.000Z'
    const hop = { 'msg.retry-attempt': '4', 'msg.first-failure-at': first, 'x-death': 'broker', note: 'kept' }
    put({ messageId: 'a', headers: { ...contractHeaders, ...hop } })
    await subject.start()
    await clock.advance(1)
    expect(seen.map(({ context }) => context.attempt)).toEqual([5])
    const [copy] = waiting('orders.retry')
    expect(copy?.headers).toEqual({
      ...contractHeaders,
      note: 'kept',
      'msg.failure-category': 'UNKNOWN',
      'msg.failure-code': 'LATER',
      'msg.origin-destination': 'orders',
      'msg.retry-attempt': '5',
      'msg.first-failure-at': first,
      'msg.last-failure-at': new Date(clock.now() - 1).toISOString(),
    })
    await subject.stop()
  })

  it('survive ten hops and a dead letter with headers at their limits', async () => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(later, {
      retry: { ...park, mode: 'brokerDelayed', maxAttempts: 11, backoff: { kind: 'fixed', jitter: 'none' } },
    })
    const many = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`h${String(index)}`, 'v'.repeat(400)]),
    )
    put({ messageId: 'a', headers: { ...contractHeaders, ...many } })
    await subject.start()
    await clock.advance(30_000)
    expect(subject.counts()).toMatchObject({ acked_retry: 10, acked_dead_letter: 1, inFlight: 0 })
    const [dead] = waiting('orders.dead')
    expect(dead?.headers).toMatchObject({ ...many, 'msg.retry-attempt': '11' })
    await subject.stop()
  })

  it('are delayed by the broker, for as long as it can and no longer', async () => {
    const { broker, clock, consumer, order } = bench()
    const subject = consumer(() => retry({ code: 'LATER', afterMs: 5000 }), {
      retry: { ...park, mode: 'brokerDelayed' },
    })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(broker.count('orders')).toEqual({ ready: 0, unsettled: 0, delayed: 1 })
    await subject.stop()
  })

  it('are no earlier than a handler asks for, where that is more than the broker can delay', async () => {
    const { clock, consumer, order, seen, transport } = bench()
    const capabilitiesOf = (name: string) => ({ ...transport.capabilitiesOf(name), maxDelayMs: 5000 })
    const subject = consumer(
      () => (seen.length > 1 ? undefined : retry({ code: 'LATER', afterMs: 30_000 })),
      {
        transport: { ...transport, capabilitiesOf },
        retry: { ...park, mode: 'brokerDelayed', backoff: { maxDelayMs: 5000 } },
      },
    )
    order('a')
    await subject.start()
    await clock.advance(29_999)
    expect(seen).toHaveLength(1)
    await clock.advance(2)
    expect(seen).toHaveLength(2)
    await subject.stop()
  })

  it('are never swallowed by a place that deduplicates', async () => {
    const { clock, consumer, order, seen, waiting } = bench([{ name: 'orders', deduplicate: true }])
    const subject = consumer(later, {
      retry: { ...park, mode: 'brokerDelayed', maxAttempts: 4, backoff: { kind: 'fixed', jitter: 'none' } },
    })
    order('a')
    await subject.start()
    await clock.advance(10_000)
    expect(seen).toHaveLength(4)
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })
})

describe('pause and retry on an ordered source', () => {
  it('holds back what comes behind and counts attempts across returns', async () => {
    const { clock, consumer, order, seen, waiting } = bench([{ name: 'orders', ordered: true }])
    const subject = consumer(({ id }) => (id === 'a' ? retry({ code: 'LATER', afterMs: 1000 }) : undefined), {
      retry: {
        ...park,
        ordering: 'preserve',
        destinationOrdered: true,
        mode: 'pausePartition',
        maxAttempts: 3,
      },
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(2500)
    expect(seen.map(({ order: { id }, context }) => `${id}${String(context.attempt)}`)).toEqual([
      'a1',
      'a2',
      'a3',
      'b1',
    ])
    expect(waiting('orders.dead')).toMatchObject([
      { headers: { 'msg.first-failure-at': new Date(clock.now() - 2500).toISOString() } },
    ])
    await subject.stop()
  })

  it('does not count attempts twice that copies have made before', async () => {
    const { clock, consumer, put, seen } = bench([{ name: 'orders', ordered: true }])
    const subject = consumer(() => retry({ code: 'LATER', afterMs: 100 }), {
      retry: {
        ...park,
        ordering: 'preserve',
        destinationOrdered: true,
        mode: 'pausePartition',
        maxAttempts: 6,
      },
    })
    put({ messageId: 'a', headers: { ...contractHeaders, 'msg.retry-attempt': '2' } })
    await subject.start()
    await clock.advance(2000)
    expect(seen.map(({ context }) => context.attempt)).toEqual([3, 4, 5, 6])
    await subject.stop()
  })
})

describe('the execution budget', () => {
  it('aborts the signal of a handler that takes too long and meets it as a timeout', async () => {
    const { clock, consumer, order, seen, waiting } = bench()
    const subject = consumer(() => new Promise<never>(() => undefined), { executionBudgetMs: 1000 })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect(seen[0]?.context.signal.aborted).toBe(true)
    expect(waiting('orders.dead')).toMatchObject([
      { headers: { 'msg.failure-category': 'TIMEOUT', 'msg.failure-code': 'EXECUTION_BUDGET_EXCEEDED' } },
    ])
    await subject.stop()
  })

  it('does not care how a handler ends that was given up', async () => {
    const { clock, consumer, order, waiting } = bench()
    const subject = consumer(
      (_order, { signal }) =>
        new Promise<undefined>((_resolve, refuse) => {
          signal.addEventListener('abort', () => {
            refuse(new Error('late'))
          })
        }),
      { executionBudgetMs: 1000 },
    )
    order('a')
    await subject.start()
    await clock.advance(5000)
    expect(waiting('orders.dead')).toHaveLength(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1 })
    await subject.stop()
  })
})
