import type { Clock } from '../ports/clock.ts'

/** What bounds a wait. */
export interface TimeLimit {
  /** Time. */
  readonly clock: Clock
  /** Milliseconds to wait. */
  readonly limitMs: number
  /** Builds the error for work that takes longer; called once, when it is late. */
  readonly onLate: () => Error
}

/**
 * Waits for work within a limit and rejects with `onLate` when it takes longer; what comes late is ignored. A plain
 * timer and no signals: this runs for each delivery.
 */
export function inTime<T>(work: Promise<T>, { clock, limitMs, onLate }: TimeLimit): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail: (error: unknown) => void = reject
    const timer = clock.schedule(limitMs, () => {
      reject(onLate())
    })
    Promise.resolve(work).then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        fail(error)
      },
    )
  })
}

/** Settles as the promise does, or rejects after a time; a later rejection of the promise is swallowed. */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  const onLate = (): Error => new Error(`no answer within ${String(limitMs)} ms`)
  return inTime(promise, { clock, limitMs, onLate })
}

/** What bounds a wait that never fails. */
export interface Patience<Otherwise> extends Pick<TimeLimit, 'clock' | 'limitMs'> {
  /** What is answered when the work rejects or takes longer. */
  readonly otherwise: Otherwise
}

/** Resolves as the work does, or with another value when it rejects or takes longer. */
export function withinOr<T, Otherwise>(
  work: Promise<T>,
  { clock, limitMs, otherwise }: Patience<Otherwise>,
): Promise<T | Otherwise> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      resolve(otherwise)
    }
    const timer = clock.schedule(limitMs, giveUp)
    Promise.resolve(work).then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      () => {
        timer.cancel()
        giveUp()
      },
    )
  })
}
