import { describe, expect, it } from '@jest/globals'
import { StoreUnavailableError } from '@litebus/core'
import { bench, gate } from './arrange.ts'

/** As programs without type checking pass what they were not given. */
const definedByNobody = { budgetMs: undefined } as unknown as { budgetMs: number }

describe('backlog', () => {
  it('pauses above high, goes on below low, and not between', async () => {
    const parts = bench()
    let pending = 0
    const subject = parts.ingress({
      backlog: { high: 100, low: 10, intervalMs: 1000, pendingCount: () => Promise.resolve(pending) },
    })
    await subject.start()
    await parts.clock.advance(1)
    const states: string[] = []
    for (pending of [100, 101, 50, 10, 9, 50]) {
      await parts.clock.advance(1000)
      states.push(subject.state)
    }
    expect(states).toEqual(['consuming', 'paused', 'paused', 'paused', 'consuming', 'consuming'])
    await subject.stop()
  })

  it.each([
    ['cannot be counted', { pendingCount: true, probe: false }],
    ['has a failing probe', { pendingCount: false, probe: true }],
  ])('pauses while the store %s', async (_name, failing) => {
    const parts = bench()
    let down = true
    const fail = (fails: boolean): Promise<void> =>
      fails && down ? Promise.reject(new StoreUnavailableError('down')) : Promise.resolve()
    const subject = parts.ingress({
      probe: () => fail(failing.probe),
      backlog: {
        high: 10,
        low: 5,
        pendingCount: async () => {
          await fail(failing.pendingCount)
          return 0
        },
      },
    })
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.pausedBy).toEqual(['backlog'])
    down = false
    await parts.clock.advance(1000)
    expect(subject.state).toBe('consuming')
    await subject.stop()
  })

  it.each([
    ['count', { pendingCount: true, probe: false }],
    ['probe', { pendingCount: false, probe: true }],
  ])('pauses after executionBudgetMs while a %s is never answered, and asks again', async (_name, hangs) => {
    const parts = bench()
    let silent = true
    let asked = 0
    const answer = <T>(never: boolean, value: T): Promise<T> => {
      if (!never) return Promise.resolve(value)
      asked += 1
      return silent ? new Promise<T>(() => undefined) : Promise.resolve(value)
    }
    const subject = parts.ingress({
      executionBudgetMs: 2000,
      probe: () => answer(hangs.probe, undefined),
      backlog: { high: 10, low: 5, intervalMs: 500, pendingCount: () => answer(hangs.pendingCount, 0) },
    })
    await subject.start()
    await parts.clock.advance(1999)
    expect([subject.pausedBy, asked]).toEqual([[], 1])
    await parts.clock.advance(1)
    expect(subject.pausedBy).toEqual(['backlog'])
    await parts.clock.advance(2500)
    expect([subject.pausedBy, asked]).toEqual([['backlog'], 2])
    silent = false
    await parts.clock.advance(500)
    expect([subject.state, asked]).toEqual(['consuming', 3])
    await subject.stop()
  })

  it('that is never counted keeps no stop waiting', async () => {
    const parts = bench()
    const pendingCount = (): Promise<number> => new Promise(() => undefined)
    const subject = parts.ingress({ backlog: { high: 10, low: 5, pendingCount } })
    await subject.start()
    await parts.clock.advance(1)
    const stopped = subject.stop()
    await parts.clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', elapsedMs: 0 })
  })

  it('is not counted by a start that failed, and once by the one that follows', async () => {
    const parts = bench()
    let counts = 0
    const subject = parts.ingress({
      source: 'late',
      backlog: { high: 10, low: 5, pendingCount: () => Promise.resolve(++counts) },
    })
    for (let tries = 0; tries < 3; tries++) {
      await expect(subject.start()).rejects.toMatchObject({ code: 'TOPOLOGY_MISMATCH' })
    }
    await parts.clock.advance(10_000)
    expect(counts).toBe(0)
    parts.broker.declareQueue({ name: 'late' })
    await subject.start()
    await expect(subject.start()).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
    await parts.clock.advance(10_000)
    expect(counts).toBe(11)
    await subject.stop()
  })

  it('ends with the ingress', async () => {
    const parts = bench()
    let counts = 0
    const pendingCount = (): Promise<number> => Promise.resolve(++counts)
    const subject = parts.ingress({ backlog: { high: 1000, low: 5, pendingCount } })
    await subject.start()
    await parts.clock.advance(1)
    await subject.stop()
    const before = counts
    await parts.clock.advance(60_000)
    expect(counts).toBe(before)
  })
})

describe('what is held', () => {
  it('is never more than maxInFlightMessages, however long the store takes', async () => {
    const parts = bench()
    const end = gate()
    parts.before = () => end.promise.then(() => undefined)
    const subject = parts.ingress({ maxInFlightMessages: 4 })
    parts.order(...Array.from({ length: 100 }, (_, index) => String(index)))
    await subject.start()
    await parts.clock.advance(1000)
    expect(parts.broker.count('billing')).toEqual({ ready: 96, unsettled: 4, delayed: 0 })
    end.open()
    await parts.clock.advance(1)
    expect(subject.counts().acked).toBe(100)
    await subject.stop()
  })

  it('stands still while an operator pauses it, and several reasons add up', async () => {
    const parts = bench()
    let pending = 20
    const subject = parts.ingress({
      backlog: { high: 10, low: 5, pendingCount: () => Promise.resolve(pending) },
    })
    await subject.start()
    await parts.clock.advance(1)
    subject.pause()
    expect(subject.pausedBy).toEqual(['backlog', 'operator'])
    pending = 0
    await parts.clock.advance(1000)
    parts.order('a')
    await parts.clock.advance(1)
    expect([subject.pausedBy, subject.counts().deliveries]).toEqual([['operator'], 0])
    subject.resume()
    await parts.clock.advance(1)
    expect(subject.counts().acked).toBe(1)
    await subject.stop()
  })
})

describe('a subscription that is lost', () => {
  it('is made again after retryPollIntervalMs, without end, with event 3002', async () => {
    const parts = bench()
    const subject = parts.ingress({ retryPollIntervalMs: 2000 })
    await subject.start()
    parts.broker.deleteQueue('billing')
    await parts.clock.advance(11_000)
    expect(parts.events().filter((id) => id === 3002).length).toBeGreaterThanOrEqual(4)
    expect(parts.logged.find(({ fields }) => fields.eventId === 3002)?.level).toBe('warn')
    parts.broker.declareQueue({ name: 'billing' })
    await parts.clock.advance(2000)
    parts.order('a')
    await parts.clock.advance(1)
    expect(subject.counts().acked).toBe(1)
    await subject.stop()
  })
})

describe('stopping', () => {
  it.each([[undefined], [{}], [definedByNobody]])(
    'with %p takes as long as the default budget',
    async (options) => {
      const parts = bench()
      parts.before = () => new Promise(() => undefined)
      const subject = parts.ingress({ executionBudgetMs: 600_000 })
      parts.order('a')
      await subject.start()
      await parts.clock.advance(1)
      const stopped = subject.stop(options)
      await parts.clock.advance(30_001)
      expect(await stopped).toMatchObject({ outcome: 'incomplete', elapsedMs: 30_000, unsettled: 1 })
    },
  )

  it('lets what the store is writing be accepted and gives back what has not begun', async () => {
    const parts = bench()
    const end = gate()
    parts.before = () => end.promise.then(() => undefined)
    const subject = parts.ingress({ maxInFlightMessages: 2 })
    parts.order('a', 'b', 'c', 'd')
    await subject.start()
    await parts.clock.advance(1)
    const stopped = subject.stop()
    await parts.clock.advance(100)
    end.open()
    await parts.clock.advance(1)
    const report = await stopped
    expect(report).toMatchObject({
      outcome: 'graceful',
      settlements: { deliveries: 2, acked: 2, inFlight: 0 },
    })
    expect(parts.broker.count('billing').ready).toBe(2)
    expect(await parts.rows()).toHaveLength(2)
  })

  it('keeps its deadline with a store that never answers, and names what is unresolved', async () => {
    const parts = bench()
    parts.before = () => new Promise(() => undefined)
    const subject = parts.ingress()
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    const stopped = subject.stop({ budgetMs: 3000 })
    await parts.clock.advance(3000)
    expect(await stopped).toMatchObject({ outcome: 'incomplete', elapsedMs: 3000, unresolved: ['a'] })
    expect(parts.broker.count('billing').ready).toBe(1)
  })
})
