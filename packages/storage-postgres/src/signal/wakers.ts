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

  /** Resolves when work may be there, when the time is up or when the signal aborts. */
  wait(signal: AbortSignal, maxWaitMs: number): Promise<void> {
    if (signal.aborted || this.#unseen) return Promise.resolve()
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(finish)
        timer.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = this.#clock.schedule(maxWaitMs, finish)
      this.#waiters.add(finish)
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}
