import type { Clock, Timer } from '@litebus/core'

/** A clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #now = 1_750_000_000_000
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>()

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#now + delayMs, callback }
    this.#timers.add(timer)
    return {
      cancel: () => {
        this.#timers.delete(timer)
      },
    }
  }

  /** Moves on and fires what is due. */
  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue
      timer.callback()
    }
  }
}
