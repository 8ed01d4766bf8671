/** Longest delay that timers of JavaScript take: 2³¹−1 ms; anything longer, and `NaN`, fires at once. */
export const maxTimerMs: number = 2 ** 31 - 1

/** Makes any number a delay that a timer keeps: `NaN` and negative values become 0, too long ones the longest. */
export function clampTimerMs(delayMs: number): number {
  if (!(delayMs > 0)) return 0
  return Math.min(delayMs, maxTimerMs)
}
