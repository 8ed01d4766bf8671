import type { Clock } from '../ports/clock.ts'

/** How long work may take. */
export interface TimeLimit {
  /** Time. */
  readonly clock: Clock
  /** Milliseconds. */
  readonly limitMs: number
  /** Makes the error of work that is late. */
  readonly onLate: () => Error
}

/**
 * Settles as the work does, or rejects with `onLate` when the time is up; what comes then is ignored. A plain timer
 * and no signals: this runs for each delivery.
 */
export function within<T>(work: Promise<T>, { clock, limitMs, onLate }: TimeLimit): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(limitMs, () => {
      reject(onLate())
    })
    const inTime =
      <A>(settle: (value: A) => void) =>
      (value: A): void => {
        timer.cancel()
        settle(value)
      }
    work.then(inTime(resolve), inTime(reject))
  })
}
