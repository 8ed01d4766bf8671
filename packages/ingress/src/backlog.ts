import { sleep, untilAborted, within, type Clock } from '@litebus/core'
import type { Intake } from '@litebus/consumer'
import type { IngressBacklogOptions } from './ingress-options.ts'

/** What watching the backlog works with. */
export interface BacklogWatch {
  /** The subscription. */
  readonly intake: Pick<Intake, 'pause' | 'resume'>
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Time. */
  readonly clock: Clock
  /** Resolves when the store can be used. */
  readonly probe: (() => Promise<void>) | undefined
  /** How long the store may take to answer one question, in milliseconds. */
  readonly executionBudgetMs: number
}

/** Pauses intake while the inbox has too many pending rows or cannot be used; runs until the signal aborts. */
export async function watchBacklog(
  { high, low, pendingCount, intervalMs = 1000 }: IngressBacklogOptions,
  { intake, stopping, clock, probe, executionBudgetMs }: BacklogWatch,
): Promise<void> {
  const inTime = <T>(answer: Promise<T>): Promise<T> =>
    untilAborted(within(clock, executionBudgetMs, answer), stopping)
  while (!stopping.aborted) {
    try {
      if (probe !== undefined) await inTime(probe())
      const pending = await inTime(pendingCount())
      if (pending > high) intake.pause('backlog')
      else if (pending < low || pending === 0) intake.resume('backlog')
    } catch {
      // A store that cannot count, or never answers, cannot take more either.
      intake.pause('backlog')
    }
    await sleep(clock, intervalMs, stopping)
  }
}
