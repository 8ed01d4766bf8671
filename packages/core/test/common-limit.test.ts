import { describe, expect, it } from '@jest/globals'
import { createCommonLimit, type Clock } from '../src/index.ts'

/** A clock that stands still until the test moves it; `timers` are those that wait. */
function stoppedClock() {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly ring: () => void }>()
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    schedule(delayMs, ring) {
      const timer = { at: now + delayMs, ring }
      timers.add(timer)
      return { cancel: () => timers.delete(timer) }
    },
  }
  const moveTo = async (time: number): Promise<void> => {
    now = time
    for (const timer of [...timers]) {
      if (timer.at > now) continue
      timers.delete(timer)
      timer.ring()
    }
    await new Promise(setImmediate)
  }
  return { clock, timers, moveTo }
}

const never = (): Promise<never> => Promise.withResolvers<never>().promise

describe('a limit for many waits', () => {
  it('answers as the work does, otherwise for work that fails, and leaves no timer', async () => {
    const { clock, timers } = stoppedClock()
    const limit = createCommonLimit(clock, 5, 'late')
    const values = [limit.within(Promise.resolve('a')), limit.within(Promise.reject(new Error('fails')))]
    expect(timers.size).toBe(1)
    expect(await Promise.all(values)).toEqual(['a', 'late'])
    expect(timers.size).toBe(0)
  })

  it('takes what is no promise, from code without types', async () => {
    const { clock, timers } = stoppedClock()
    expect(await createCommonLimit(clock, 5, 'late').within('value' as never)).toBe('value')
    expect(timers.size).toBe(0)
  })

  it('gives each wait its whole time and no more, whatever began and ended before it', async () => {
    const { clock, timers, moveTo } = stoppedClock()
    const limit = createCommonLimit(clock, 5, 'late')
    const ended: string[] = []
    const wait = (name: string, work: Promise<string>): void => {
      void limit.within(work).then((value) => ended.push(`${name} ${value}`))
    }
    const first = Promise.withResolvers<string>()
    wait('first', first.promise)
    await moveTo(2)
    wait('second', never())
    await moveTo(4)
    wait('third', never())
    first.resolve('done')
    await moveTo(4)
    await moveTo(6)
    expect(ended).toEqual(['first done'])
    await moveTo(7)
    expect(ended).toEqual(['first done', 'second late'])
    await moveTo(8)
    expect(ended).toHaveLength(2)
    await moveTo(9)
    expect(ended).toEqual(['first done', 'second late', 'third late'])
    expect(timers.size).toBe(0)
  })

  it('ignores what comes late, and starts anew after it was idle', async () => {
    const { clock, timers, moveTo } = stoppedClock()
    const limit = createCommonLimit(clock, 5, 'late')
    const late = Promise.withResolvers<string>()
    const answer = limit.within(late.promise)
    await moveTo(5)
    late.reject(new Error('too late'))
    expect(await answer).toBe('late')
    const next = limit.within(never())
    expect(timers.size).toBe(1)
    await moveTo(10)
    expect(await next).toBe('late')
  })
})
