import { describe, expect, it } from '@jest/globals'
import { inTime, within, withinOr, type Clock } from '../src/index.ts'

/** A clock whose timers run when the test says so. */
function stoppedClock(): { readonly clock: Clock; readonly pending: Set<() => void> } {
  const pending = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    schedule(_delayMs, callback) {
      pending.add(callback)
      return { cancel: () => pending.delete(callback) }
    },
  }
  return { clock, pending }
}

const never = (): Promise<never> => Promise.withResolvers<never>().promise

describe('a wait with a limit', () => {
  const { clock, pending } = stoppedClock()
  const waits = {
    inTime: <T>(work: Promise<T>) => inTime(work, { clock, limitMs: 5, onLate: () => new Error('late') }),
    within: <T>(work: Promise<T>) => within(clock, 5, work),
    withinOr: <T>(work: Promise<T>) => withinOr(work, { clock, limitMs: 5, otherwise: 'otherwise' }),
  }

  it.each(Object.entries(waits))('by %s ends with the work and leaves no timer', async (_name, wait) => {
    expect(await wait(Promise.resolve('value'))).toBe('value')
    await wait(Promise.reject(new Error('fails'))).catch(() => undefined)
    expect(pending.size).toBe(0)
  })

  it.each(Object.entries(waits))(
    'by %s takes what is no promise, from code without types',
    async (_name, wait) => {
      expect(await wait('value' as never)).toBe('value')
      expect(pending.size).toBe(0)
    },
  )

  it.each([
    { work: 'work that fails', of: () => Promise.reject(new Error('fails')), rejects: 'fails' },
    { work: 'work that is late', of: never, rejects: 'late' },
  ])('rejects, or answers otherwise, for $work', async ({ of, rejects }) => {
    const ended = Promise.allSettled([waits.inTime(of()), waits.withinOr(of())])
    await new Promise(setImmediate)
    for (const ring of pending) ring()
    expect(await ended).toEqual([
      { status: 'rejected', reason: new Error(rejects) },
      { status: 'fulfilled', value: 'otherwise' },
    ])
    pending.clear()
  })
})
