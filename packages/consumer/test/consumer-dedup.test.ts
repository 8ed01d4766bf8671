import { describe, expect, it } from '@jest/globals'
import {
  defineHandler,
  defineTransactionalHandler,
  idOfDelivery,
  reject,
  StoreUnavailableError,
} from '@litebus/core'
import { bench, done, gate, orderPlaced } from './arrange.ts'
import { counting, dedupBench } from './dedup-arrange.ts'

describe('a consumer with deduplication', () => {
  it('runs a handler once for a message that comes twice, and accepts the duplicate', async () => {
    const { clock, create, order } = dedupBench()
    const { handlers, runs } = counting()
    const subject = create({ handlers })
    order('a', 'a', 'b')
    await subject.start()
    await clock.advance(1)
    expect(runs()).toBe(2)
    expect(subject.counts()).toMatchObject({ deliveries: 3, acked: 3, inFlight: 0 })
    await subject.stop()
  })

  it('holds a duplicate while the first one is at work, without spending an attempt, and accepts it then', async () => {
    const { clock, create, order, waiting } = dedupBench()
    const end = gate()
    const { handlers, runs } = counting(() => end.promise)
    const subject = create({ handlers, concurrency: 2 })
    order('a', 'a')
    await subject.start()
    await clock.advance(20_000)
    expect(subject.counts()).toMatchObject({ deliveries: 2, inFlight: 2 })
    end.open()
    await clock.advance(10_000)
    expect(runs()).toBe(1)
    expect(subject.counts()).toMatchObject({ acked: 2, inFlight: 0 })
    expect(waiting('orders.dead')).toEqual([])
    await subject.stop()
  })

  it('runs a duplicate once the lease of one that died has expired', async () => {
    const { clock, create, order, storage } = dedupBench()
    const { handlers, runs } = counting()
    await storage.dedup.claim(idOfDelivery('billing', 'a'), 45_000)
    const subject = create({ handlers, dedup: { store: storage.dedup, scope: 'billing' } })
    order('a')
    await subject.start()
    await clock.advance(40_000)
    expect(runs()).toBe(0)
    await clock.advance(30_000)
    expect(runs()).toBe(1)
    expect(subject.counts()).toMatchObject({ acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it('gives a deferred duplicate back when it may be held no longer', async () => {
    const { broker, clock, create, order, storage } = dedupBench()
    const { handlers, runs } = counting()
    const other = create({
      handlers: counting(() => new Promise(() => undefined)).handlers,
      executionBudgetMs: 3_600_000,
    })
    order('a')
    await other.start()
    await clock.advance(1)
    order('a')
    const subject = create({ handlers, dedup: { store: storage.dedup }, holdLimitMs: 5000 })
    await subject.start()
    await clock.advance(5001)
    expect(subject.counts().returned).toBe(1)
    expect(runs()).toBe(0)
    expect(broker.count('orders.dead').ready).toBe(0)
    const stopped = Promise.all([subject.stop({ budgetMs: 100 }), other.stop({ budgetMs: 100 })])
    await clock.advance(200)
    await stopped
  })

  it('frees the message when its handler fails, so that the next attempt runs at once', async () => {
    const { clock, create, order, storage } = dedupBench()
    let failures = 2
    const { handlers, runs } = counting(() => {
      if (failures-- > 0) throw new Error('x')
      return undefined
    })
    const subject = create({
      handlers,
      retry: {
        mode: 'inline',
        maxAttempts: 3,
        deadLetterDestination: 'orders.dead',
        backoff: { initialDelayMs: 10 },
      },
    })
    order('a', 'a')
    await subject.start()
    await clock.advance(1000)
    expect(runs()).toBe(3)
    expect(subject.counts()).toMatchObject({ acked: 2, inFlight: 0 })
    expect(await storage.dedup.runRetention({ dedupRetentionMs: 0 })).toBe(1)
    await subject.stop()
  })

  it('parks what its handler rejects, and lets what is redriven from there run', async () => {
    const { clock, create, order, waiting } = dedupBench()
    let refuses = true
    let runs = 0
    const handlers = [
      defineHandler({
        contract: orderPlaced,
        handle() {
          runs += 1
          return refuses ? reject({ code: 'NO' }) : undefined
        },
      }),
    ]
    const subject = create({ handlers })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead')).toHaveLength(1)
    refuses = false
    order('a')
    await clock.advance(1)
    expect(runs).toBe(2)
    expect(subject.counts()).toMatchObject({ acked: 1, acked_dead_letter: 1 })
    await subject.stop()
  })

  it('holds everything with intake standing still while the store is out of reach, and spends no attempt', async () => {
    const { clock, create, order, faulty, storage, waiting } = dedupBench()
    let out = true
    const store = faulty({
      claim: (key, leaseMs) =>
        out ? Promise.reject(new StoreUnavailableError('out')) : storage.dedup.claim(key, leaseMs),
    })
    const { handlers, runs } = counting()
    const subject = create({ handlers, dedup: { store }, concurrency: 2 })
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(30_000)
    expect(subject.pausedBy).toEqual(['store'])
    expect(subject.counts()).toMatchObject({ deliveries: 2, inFlight: 2 })
    out = false
    await clock.advance(10_000)
    expect(runs()).toBe(3)
    expect(subject.pausedBy).toEqual([])
    expect(subject.counts()).toMatchObject({ deliveries: 3, acked: 3, inFlight: 0 })
    expect(waiting('orders.dead')).toEqual([])
    await subject.stop()
  })

  it('accepts finished work that could not be recorded, and says that a duplicate would run again', async () => {
    const { clock, create, order, faulty, logged } = dedupBench()
    const store = faulty({ complete: () => Promise.reject(new StoreUnavailableError('hunter2')) })
    const { handlers, runs } = counting()
    const log = (message: string, fields = {}): void => {
      logged.push({ message, fields })
    }
    const logger = { debug: log, info: log, warn: log, error: log }
    const subject = create({ handlers, dedup: { store }, logger })
    order('a')
    await subject.start()
    await clock.advance(6000)
    expect(runs()).toBe(1)
    expect(subject.counts()).toMatchObject({ acked: 1, inFlight: 0 })
    expect(JSON.stringify(logged)).toContain('finished work could not be recorded')
    expect(JSON.stringify(logged)).not.toContain('hunter2')
    await subject.stop()
  })
})

describe('deduplication at construction', () => {
  it('needs a lease above the execution budget, and a store', () => {
    const { create, storage } = dedupBench()
    const { handlers } = counting()
    expect(() => create({ handlers, dedup: { store: storage.dedup, leaseMs: 30_999 } })).toThrow(
      /dedup\.leaseMs above executionBudgetMs/,
    )
    expect(() => create({ handlers, dedup: {} as never })).toThrow(/dedup\.store/)
  })

  it('is what transactional handlers need', () => {
    const { consumer } = bench()
    const handlers = [defineTransactionalHandler({ contract: orderPlaced, handle: done })]
    expect(() => consumer(done, { handlers })).toThrow(/give the consumer dedup/)
  })
})
