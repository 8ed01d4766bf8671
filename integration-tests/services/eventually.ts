import { setTimeout as delay } from 'node:timers/promises'

export interface EventuallyOptions {
  /** What is waited for, as it shall appear after "expected" in the error. */
  readonly expectation: string
  /** @defaultValue 30000 */
  readonly timeoutMs?: number
  /** @defaultValue 50 */
  readonly intervalMs?: number
  /** Says why it can no longer happen, which ends the wait early. @defaultValue never */
  readonly giveUp?: () => Promise<string | undefined>
}

/** Repeats `attempt` until it returns without a throw, and fails with its last error after the time is up. */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { expectation, timeoutMs = 30_000, intervalMs = 50, giveUp }: EventuallyOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      const hopeless = await giveUp?.()
      if (hopeless !== undefined)
        throw new Error(`expected ${expectation}, but ${hopeless}`, { cause: error })
      if (performance.now() >= deadline) {
        throw new Error(
          `expected ${expectation} within ${String(timeoutMs)} ms, last seen: ${String(error)}`,
          {
            cause: error,
          },
        )
      }
    }
    await delay(intervalMs)
  }
}
