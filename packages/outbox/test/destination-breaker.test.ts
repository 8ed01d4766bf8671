import { manualClock, type ManualClock } from '@litebus/conformance'
import { describe, expect, it } from '@jest/globals'
import { resolveBreakerOptions } from '../src/breaker-options.ts'
import { createDestinationBreaker, type DestinationBreaker } from '../src/destination-breaker.ts'

interface Arranged {
  readonly breaker: DestinationBreaker
  readonly clock: ManualClock
  readonly changes: boolean[]
  readonly probes: PromiseWithResolvers<undefined>[]
  /** Fails so often that it breaks; answers the generation that was admitted before. */
  readonly break: () => Promise<number>
  /** Lets the next probe end. */
  readonly answer: (reachable: boolean) => Promise<void>
}

function arrange(failureThreshold = 3): Arranged {
  const clock = manualClock()
  const probes: PromiseWithResolvers<undefined>[] = []
  const changes: boolean[] = []
  const breaker = createDestinationBreaker({
    ...resolveBreakerOptions({ failureThreshold }),
    clock,
    random: () => 1,
    onChange: (open) => changes.push(open),
    probe: async () => {
      const probe = Promise.withResolvers<undefined>()
      probes.push(probe)
      await probe.promise
    },
  })
  return {
    breaker,
    clock,
    changes,
    probes,
    async break() {
      const admitted = breaker.admitting ?? 0
      for (let time = 0; time < failureThreshold; time++) await breaker.failed(admitted)
      return admitted
    },
    async answer(reachable) {
      await clock.advance(0)
      if (reachable) probes.at(-1)?.resolve(undefined)
      else probes.at(-1)?.reject(new Error('no'))
      await clock.advance(0)
    },
  }
}

describe('the breaker of a destination', () => {
  it('breaks after the threshold of failures in a row, and not before', async () => {
    const { breaker, changes } = arrange()
    const first = breaker.admitting ?? 0
    expect(await breaker.failed(first)).toBe(500)
    expect(await breaker.failed(first)).toBe(1000)
    expect([breaker.open, breaker.failureCount]).toEqual([false, 2])
    expect(await breaker.failed(first)).toBe(500)
    expect([breaker.open, breaker.failureCount, breaker.admitting]).toEqual([true, 3, undefined])
    expect(changes).toEqual([true])
  })

  it('forgets failures when the broker answers in between', async () => {
    const { breaker, clock } = arrange()
    const first = breaker.admitting ?? 0
    await breaker.failed(first)
    await breaker.failed(first)
    breaker.succeeded(first)
    await clock.advance(0)
    expect(breaker.failureCount).toBe(0)
    await breaker.failed(first)
    expect(breaker.open).toBe(false)
  })

  it('asks by one probe, however many messages wait, and closes when it is answered', async () => {
    const arranged = arrange()
    const { breaker, clock, changes, probes } = arranged
    await arranged.break()
    expect(await breaker.waitMs()).toBe(500)
    await clock.advance(499)
    expect(await breaker.waitMs()).toBe(1)
    expect(probes).toHaveLength(0)
    await clock.advance(1)
    const waiting = Promise.all([breaker.waitMs(), breaker.waitMs(), breaker.reachable()])
    await arranged.answer(true)
    expect(await waiting).toEqual([0, 0, true])
    expect(probes).toHaveLength(1)
    expect([breaker.open, breaker.failureCount]).toEqual([false, 0])
    expect(changes).toEqual([true, false])
  })

  it('waits twice as long after each probe that fails, up to the limit', async () => {
    const arranged = arrange()
    const { breaker, clock, probes } = arranged
    await arranged.break()
    const waits: number[] = []
    for (let time = 0; time < 7; time++) {
      waits.push(await breaker.waitMs())
      await clock.advance(waits.at(-1) ?? 0)
      const asked = breaker.waitMs()
      await arranged.answer(false)
      await asked
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000])
    expect(probes).toHaveLength(7)
    expect(breaker.open).toBe(true)
  })

  it('does not close a newer break for an outcome of an older generation', async () => {
    const arranged = arrange()
    const { breaker, clock } = arranged
    const old = await arranged.break()
    breaker.succeeded(old)
    await clock.advance(0)
    expect(breaker.open).toBe(true)
    await clock.advance(500)
    const asked = breaker.waitMs()
    await clock.advance(0)
    breaker.succeeded(old)
    await breaker.failed(old)
    await clock.advance(0)
    expect(breaker.open).toBe(true)
    await arranged.answer(false)
    await asked
    expect(breaker.open).toBe(true)
  })

  it('does not let an outcome of an older generation hinder the probe, count or be forgotten', async () => {
    const arranged = arrange()
    const { breaker, clock, changes } = arranged
    const old = await arranged.break()
    await clock.advance(500)
    const asked = breaker.waitMs()
    await clock.advance(0)
    for (let time = 0; time < 5; time++) await breaker.failed(old)
    await arranged.answer(true)
    expect(await asked).toBe(0)
    for (let time = 0; time < 5; time++) await breaker.failed(old)
    expect([breaker.open, breaker.failureCount]).toEqual([false, 0])
    await breaker.failed(breaker.admitting ?? 0)
    breaker.succeeded(old)
    await clock.advance(0)
    expect(breaker.failureCount).toBe(1)
    expect(changes).toEqual([true, false])
  })

  it('asks for every doubt while it is closed, and moves for none of the answers', async () => {
    const arranged = arrange(1)
    const { breaker, probes } = arranged
    const asked = Promise.all([breaker.reachable(), breaker.reachable()])
    await arranged.answer(false)
    expect(await asked).toEqual([false, false])
    expect([probes.length, breaker.open]).toEqual([1, false])
  })

  it('keeps its times when the time of day jumps', async () => {
    const arranged = arrange()
    const { breaker, clock } = arranged
    await arranged.break()
    const jumping = Date.now.bind(Date)
    Date.now = () => jumping() - 3_600_000
    try {
      await clock.advance(500)
      const asked = breaker.waitMs()
      await arranged.answer(true)
      expect(await asked).toBe(0)
    } finally {
      Date.now = jumping
    }
  })
})

describe('the options of a breaker', () => {
  it('are checked all at once', () => {
    const { faults } = resolveBreakerOptions({ failureThreshold: 0, initialDelayMs: 0, maxDelayMs: -1 })
    expect(faults.join('\n')).toMatch(/failureThreshold(.|\n)*initialDelayMs(.|\n)*maxDelayMs/u)
  })
})
