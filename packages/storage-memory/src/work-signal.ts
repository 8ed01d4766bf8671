import type { Clock } from '@litebus/core'

/** Wakes processors of one axis. */
export class MemoryWorkSignal {
  readonly #waiters = new Set<() => void>()
  #unseen = false

  /** Work may be there. */
  raise(): void {
    this.#unseen = true
    for (const wake of [...this.#waiters]) wake()
  }

  /** A processor looks now. */
  seen(): void {
    this.#unseen = false
  }

  /** Resolves when work may be there, when the time is up or when the signal aborts. */
  wait(clock: Clock, signal: AbortSignal, maxWaitMs: number): Promise<void> {
    if (signal.aborted || this.#unseen) return Promise.resolve()
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(finish)
        timer.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = clock.schedule(maxWaitMs, finish)
      this.#waiters.add(finish)
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}
