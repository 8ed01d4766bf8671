import type { Clock } from '../ports/clock.ts'

/** Settles as the promise does, or rejects after a time; a later rejection of the promise is swallowed. */
export function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(limitMs, () => {
      reject(new Error(`no answer within ${String(limitMs)} ms`))
    })
    promise.then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}
