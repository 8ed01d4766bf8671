import { describe, expect, it } from '@jest/globals'
import { defineHandler, defineTransactionalHandler, OptionsError, reject, retry } from '@litebus/core'
import { createConsumer } from '../src/index.ts'
import { bench, done, orderPlaced } from './arrange.ts'

const retryByCopy = {
  mode: 'retryDestination',
  ordering: 'allowReorder',
  retryDestination: 'orders.retry',
  deadLetterDestination: 'orders.dead',
  maxAttempts: 3,
  backoff: { initialDelayMs: 0 },
} as const

describe('what becomes of a delivery', () => {
  it('success accepts the original', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(done)
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(seen.map(({ order: { id } }) => id)).toEqual(['a'])
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1, inFlight: 0 })
    expect(broker.count('orders')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
    await subject.stop()
  })

  it('a failure with attempts left accepts the original once a retry copy is confirmed', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const confirm = broker.faults.holdConfirms()
    const subject = consumer(() => retry({ code: 'LATER' }), { retry: retryByCopy })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(broker.count('orders').unsettled).toBe(1)
    confirm()
    await clock.advance(1)
    expect(broker.count('orders').unsettled).toBe(0)
    expect(waiting('orders.retry')).toMatchObject([
      { messageId: 'a', headers: { 'msg.retry-attempt': '1', 'msg.failure-code': 'LATER' } },
    ])
    expect(subject.counts()).toMatchObject({ acked_retry: 1, inFlight: 0 })
    await subject.stop()
  })

  it.each([
    ['a permanent failure', () => reject({ code: 'NEVER' }), retryByCopy, 'NEVER', 'REJECTED'],
    [
      'a failure whose attempts are used up',
      () => retry({ code: 'AGAIN' }),
      { ...retryByCopy, maxAttempts: 1 },
      'AGAIN',
      'UNKNOWN',
    ],
    [
      'a throw without automatic retry',
      () => {
        throw new TypeError('bug')
      },
      { deadLetterDestination: 'orders.dead' },
      'TYPEERROR',
      'UNKNOWN',
    ],
  ] as const)(
    '%s accepts the original once a dead-letter copy is confirmed',
    async (_name, handle, profile, code, category) => {
      const { broker, clock, consumer, order, waiting } = bench()
      const confirm = broker.faults.holdConfirms()
      const subject = consumer(handle, { retry: profile })
      order('a')
      await subject.start()
      await clock.advance(1)
      expect(broker.count('orders').unsettled).toBe(1)
      confirm()
      await clock.advance(1)
      expect(broker.count('orders')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
      expect(waiting('orders.dead')).toMatchObject([
        { messageId: 'a', headers: { 'msg.failure-code': code, 'msg.failure-category': category } },
      ])
      expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, inFlight: 0 })
      await subject.stop()
    },
  )

  it('a permanent failure is rejected natively where the profile says so', async () => {
    const { clock, consumer, order, waiting } = bench([{ name: 'orders', deadLetter: 'orders.dead' }])
    const subject = consumer(() => reject({ code: 'NEVER' }), { retry: { onPermanent: 'reject' } })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 1, inFlight: 0 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('an accept that was not sent gives the delivery back once', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(done)
    broker.faults.failNextSettlement({ result: 'notSent' })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(seen).toHaveLength(2)
    expect(subject.counts()).toMatchObject({ deliveries: 2, returned: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it('an accept without an answer is unresolved, and redelivery decides', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(done)
    broker.faults.failNextSettlement({ result: 'unknown' })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(seen).toHaveLength(2)
    expect(subject.counts()).toMatchObject({ deliveries: 2, unresolved: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it('a return that was not sent is sent again, so that no delivery keeps its place for ever', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(done)
    broker.faults.failNextSettlement({ result: 'notSent', times: 4 })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect(seen).toHaveLength(2)
    expect(subject.counts()).toMatchObject({ returned: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it('a confirmed copy whose original is uncertain is unresolved, without a second copy or accept', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    broker.faults.failNextSettlement({ result: 'unknown', arrived: true })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, unresolved: 1, inFlight: 0 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('a confirmed copy whose original accept was not sent is accepted at the next try', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    broker.faults.failNextSettlement({ result: 'notSent', times: 2 })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1, inFlight: 0 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('a delivery whose channel goes away settles nothing and is handled again', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const subject = consumer(() => {
      if (seen.length === 1) broker.faults.redeliver('orders')
    })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(seen).toHaveLength(2)
    expect(subject.counts()).toMatchObject({ pending_redelivery: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it.each([
    ['a plain value', { ok: true }],
    ['null', null],
    ['a number', 7],
  ])('a handler that returns %s has made a mistake, which is parked', async (_name, value) => {
    const { clock, consumer, order, waiting } = bench()
    const subject = consumer(() => value as never)
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead')).toMatchObject([
      { headers: { 'msg.failure-code': 'HANDLER_RESULT_INVALID' } },
    ])
    await subject.stop()
  })
})

describe('construction', () => {
  it('refuses contradictions with every fault at once', () => {
    const { transport } = bench()
    const create = (): unknown =>
      createConsumer({
        transport,
        source: 'orders',
        handlers: [defineHandler({ contract: orderPlaced, handle: done })],
        concurrency: 0,
        executionBudgetMs: Number.NaN,
        retry: { mode: 'brokerDelayed', ordering: 'preserve', deadLetterDestination: 'orders' },
      })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(
      /concurrency.*executionBudgetMs.*deadLetterDestination other than the source.*orderedStream.*brokerDelayed/,
    )
  })

  it('refuses a profile that has no place for dead letters', () => {
    const { consumer } = bench()
    expect(() => consumer(done, { retry: {} })).toThrow(/deadLetterDestination/)
  })

  it('refuses transactional handlers, which need an inbox', () => {
    const { consumer } = bench()
    const handlers = [defineTransactionalHandler({ contract: orderPlaced, handle: done })]
    expect(() => consumer(done, { handlers })).toThrow(/transactional/)
  })
})
