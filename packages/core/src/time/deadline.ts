import type { Clock, Timer } from '../ports/clock.ts'

/** A deadline that can be brought forward and never put off. */
export interface Deadline {
  /** Aborts when it is over. */
  readonly signal: AbortSignal
  /** It is over in so many milliseconds, unless it is before. */
  within(ms: number): void
  /** It is over now, and no timer is left. */
  end(): void
}

/** A deadline that is not set yet. */
export function createDeadline(clock: Pick<Clock, 'schedule' | 'monotonic'>): Deadline {
  const over = new AbortController()
  let timer: Timer | undefined
  let atMs = Number.POSITIVE_INFINITY
  const end = (): void => {
    timer?.cancel()
    over.abort()
  }
  return {
    signal: over.signal,
    within(ms) {
      const nextMs = clock.monotonic() + ms
      if (over.signal.aborted || nextMs >= atMs) return
      atMs = nextMs
      timer?.cancel()
      timer = clock.schedule(ms, end)
    },
    end,
  }
}
