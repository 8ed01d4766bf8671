import type { Clock } from '../ports/clock.ts'
import { inTime } from './in-time.ts'

/** Settles as the promise does, or rejects after a time; a later rejection of the promise is swallowed. */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  const onLate = (): Error => new Error(`no answer within ${String(limitMs)} ms`)
  return inTime(promise, { clock, limitMs, onLate })
}
