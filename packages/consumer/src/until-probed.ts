import { backoffDelayMs, sleep, within, type BackoffOptions, type Clock } from '@litebus/core'

/** How something is asked whether it can be used. */
export interface Probing {
  /** Resolves when it can. */
  readonly probe: () => Promise<void> | undefined
  /** Pauses between two questions. */
  readonly waits: BackoffOptions
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** What never answers must not be waited for as long. */
export const answerMs = 30_000

/** Asks until the answer is yes. False: the signal aborted before. */
export async function untilProbed(
  { probe, waits, clock, random }: Probing,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    await sleep(clock, backoffDelayMs(attempt, waits, random), signal)
    try {
      await within(clock, answerMs, Promise.resolve(probe()))
      return true
    } catch {
      // Still out of reach, which was logged when it began.
    }
  }
  return false
}
