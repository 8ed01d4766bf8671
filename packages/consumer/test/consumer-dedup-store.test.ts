import { describe, expect, it } from '@jest/globals'
import { defineHandler, idOfDelivery, reject, StoreUnavailableError, type Transport } from '@litebus/core'
import { gate, orderPlaced } from './arrange.ts'
import { counting, dedupBench } from './dedup-arrange.ts'

describe('the scope of deduplication', () => {
  it('keeps readers apart that share a store, and together what reads the same, also after a restart', async () => {
    const { clock, create, order, storage, transport } = dedupBench()
    const { handlers, runs } = counting()
    const store = storage.dedup
    const asGroup = (group: string): Transport => ({ ...transport, readerOf: (queue) => `${group}/${queue}` })
    const run = async (options: Parameters<typeof create>[0]): Promise<number> => {
      const before = runs()
      const subject = create({ handlers, dedup: { store }, ...options })
      order('a')
      await subject.start()
      await clock.advance(1)
      await subject.stop()
      return runs() - before
    }
    expect(await run({ transport: asGroup('billing') })).toBe(1)
    expect(await run({ transport: asGroup('billing') })).toBe(0)
    expect(await run({ transport: asGroup('shipping') })).toBe(1)
    expect(await run({ dedup: { store, scope: 'shipping/orders' } })).toBe(0)
    expect(await run({ dedup: { store, scope: 'audit' } })).toBe(1)
    const nameless = Object.fromEntries(
      Object.entries(transport).filter(([name]) => name !== 'readerOf'),
    ) as unknown as Transport
    expect(await run({ transport: nameless })).toBe(1)
    expect(await run({ transport: nameless })).toBe(0)
  })
})

describe('a dedup store whose claims fail for a reason of its own', () => {
  it('is out of reach: the delivery is held, however long, and not spent on redeliveries', async () => {
    const { broker, clock, create, faulty, logged, order, storage } = dedupBench()
    const { handlers, runs } = counting()
    let broken = true
    const store = faulty({
      claim: (key, leaseMs) =>
        broken
          ? Promise.reject(Object.assign(new Error('secret'), { code: '23514' }))
          : storage.dedup.claim(key, leaseMs),
    })
    const subject = create({ handlers, dedup: { store } })
    order('a')
    await subject.start()
    await clock.advance(600_000)
    expect(subject.pausedBy).toEqual(['store'])
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 0, inFlight: 1 })
    expect(JSON.stringify(logged)).not.toContain('secret')
    broken = false
    await clock.advance(5000)
    expect(runs()).toBe(1)
    expect(subject.pausedBy).toEqual([])
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1, inFlight: 0 })
    expect(broker.count('orders.dead').ready).toBe(0)
    await subject.stop()
  })
})

describe('a dedup store that does not answer', () => {
  it('and fails late, after another claim was given up, stops nothing that was subscribed since', async () => {
    const { clock, create, order, faulty, storage } = dedupBench()
    const { handlers, runs } = counting()
    const late = gate()
    const away = new StoreUnavailableError('expected the store, found none')
    let claims = 0
    let isAway = true
    const store = faulty({
      async claim(key, leaseMs) {
        claims += 1
        const isLate = claims === 2
        if (isLate) await late.promise
        if (isAway || isLate) throw away
        return storage.dedup.claim(key, leaseMs)
      },
    })
    const subject = create({
      handlers,
      dedup: { store, leaseMs: 600_000 },
      holdLimitMs: 1000,
      concurrency: 2,
      prefetch: 2,
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(1)
    expect([claims, subject.pausedBy]).toEqual([2, ['store']])
    await clock.advance(2000)
    expect(subject.state).toBe('suspended')
    isAway = false
    await clock.advance(15_000)
    expect([runs(), subject.state]).toEqual([2, 'consuming'])
    late.open()
    await clock.advance(1)
    expect([subject.pausedBy, subject.state]).toEqual([[], 'consuming'])
    await subject.stop()
  })

  it('is out of reach for a claim, and gives back what it grants too late', async () => {
    const { clock, create, order, faulty, storage } = dedupBench()
    const { handlers, runs } = counting()
    const late = gate()
    let claims = 0
    const store = faulty({
      async claim(key, leaseMs) {
        claims += 1
        const granted = await storage.dedup.claim(key, leaseMs)
        if (claims === 1) await late.promise
        return granted
      },
    })
    const subject = create({ handlers, dedup: { store, leaseMs: 600_000 } })
    order('a')
    await subject.start()
    await clock.advance(29_999)
    expect(subject.pausedBy).toEqual([])
    await clock.advance(1)
    expect(subject.pausedBy).toEqual(['store'])
    await clock.advance(60_000)
    expect([runs(), subject.counts().inFlight]).toEqual([0, 1])
    late.open()
    await clock.advance(10_000)
    expect(runs()).toBe(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })

  it('holds up neither the accept of finished work nor the handoff of what failed', async () => {
    const { clock, create, order, faulty, waiting } = dedupBench()
    const silent = (): Promise<never> => new Promise(() => undefined)
    const store = faulty({ complete: silent, release: silent })
    let runs = 0
    const handlers = [
      defineHandler({
        contract: orderPlaced,
        handle: ({ id }) => {
          runs += 1
          return id === 'a' ? undefined : reject({ code: 'NO' })
        },
      }),
    ]
    const subject = create({ handlers, dedup: { store } })
    order('a', 'b')
    await subject.start()
    await clock.advance(20_000)
    expect(runs).toBe(2)
    expect(subject.counts()).toMatchObject({ acked: 1, acked_dead_letter: 1, inFlight: 0 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('leaves its lease longer than handlers may take, however late a claim is answered', async () => {
    const { clock, create, order, faulty } = dedupBench()
    const store = faulty({ claim: () => new Promise(() => undefined) })
    const subject = create({ handlers: counting().handlers, dedup: { store, leaseMs: 31_000 } })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect(subject.pausedBy).toEqual(['store'])
    await subject.stop()
  })
})

it('a duplicate in progress does not loop where nothing may be held', async () => {
  const { clock, create, order, storage } = dedupBench()
  const { handlers, runs } = counting()
  await storage.dedup.claim(idOfDelivery('billing', 'a'), 5000)
  const dedup = { store: storage.dedup, scope: 'billing' }
  const subject = create({ handlers, dedup, holdLimitMs: 0 })
  order('a')
  await subject.start()
  await clock.advance(4500)
  expect(subject.counts()).toMatchObject({ deliveries: 5, returned: 5, inFlight: 0 })
  await clock.advance(2000)
  expect(runs()).toBe(1)
  await subject.stop()
})
