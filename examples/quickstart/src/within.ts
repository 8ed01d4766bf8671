import { inTime, systemClock } from '@litebus/core'

/**
 * Waits for something that has to come within a limit.
 *
 * @throws Error naming what was expected, when it did not come in time.
 */
export function within<T>(limitMs: number, expectation: string, work: Promise<T>): Promise<T> {
  const onLate = (): Error => new Error(`expected ${expectation} within ${String(limitMs / 1000)} s`)
  return inTime(work, { clock: systemClock, limitMs, onLate })
}
