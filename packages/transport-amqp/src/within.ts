import { inTime, type Clock } from '@litebus/core'

/** Settles as the promise does, or rejects after a time; the promise's later rejection is swallowed. */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  const onLate = (): Error => new Error(`no answer within ${String(limitMs)} ms`)
  return inTime(promise, { clock, limitMs, onLate })
}
