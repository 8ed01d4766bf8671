import type { Clock } from '../ports/clock.ts'
import { clampTimerMs } from './timer-limits.ts'

/** The clock of the machine. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, clampTimerMs(delayMs))
    return {
      cancel: () => {
        clearTimeout(timer)
      },
    }
  },
})
