/** A timer that can be taken back. */
export interface Timer {
  /** Cancels the timer; calling it twice, or after it fired, does nothing. */
  readonly cancel: () => void
}

/** Time as the library sees it; passed in so that tests own it. */
export interface Clock {
  /** Wall clock, in milliseconds since the epoch. Never decides leases: the store's own clock does. */
  now(): number
  /** Monotonic milliseconds, for deadlines and durations. Moves on with the timers of `schedule`. */
  monotonic(): number
  /** Calls back once after `delayMs`, never within this call; delays are clamped to a finite value in [0, 2³¹−1]. */
  schedule(delayMs: number, callback: () => void): Timer
}
