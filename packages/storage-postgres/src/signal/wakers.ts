import type { Clock } from '@litebus/core'

/** Those who wait for work on one axis, and whether work may have come that nobody has looked for. */
export class Wakers {
  readonly #clock: Clock
  readonly #waiters = new Set<() => void>()
  #unseen = false

  /** `clock` times the waits. */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Work may be there. */
  raise(): void {
    this.#unseen = true
    for (const wake of [...this.#waiters]) wake()
  }

  /** Somebody looks now. */
  seen(): void {
    this.#unseen = false
  }

  /** Resolves when work may be there, when the signal aborts or, with true, when the time is up. */
  wait(signal: AbortSignal, maxWaitMs: number): Promise<boolean> {
    if (signal.aborted || this.#unseen) return Promise.resolve(false)
    return new Promise((resolve) => {
      const finish = (timeIsUp: boolean): void => {
        this.#waiters.delete(wake)
        timer.cancel()
        signal.removeEventListener('abort', wake)
        resolve(timeIsUp)
      }
      const wake = (): void => {
        finish(false)
      }
      const timer = this.#clock.schedule(maxWaitMs, () => {
        finish(true)
      })
      this.#waiters.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}
