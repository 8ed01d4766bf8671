import { sleep, type Clock } from '@litebus/core'
import type { Intake } from '@litebus/consumer'
import type { IngressBacklogOptions } from './ingress-options.ts'

/** Pauses intake while the inbox has too many pending rows or cannot be used; runs until the signal aborts. */
export async function watchBacklog(
  { high, low, pendingCount, intervalMs = 1000 }: IngressBacklogOptions,
  {
    intake,
    stopping,
    clock,
    probe,
  }: {
    readonly intake: Pick<Intake, 'pause' | 'resume'>
    readonly stopping: AbortSignal
    readonly clock: Clock
    readonly probe: (() => Promise<void>) | undefined
  },
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await probe?.()
      const pending = await pendingCount()
      if (pending > high) intake.pause('backlog')
      else if (pending < low || pending === 0) intake.resume('backlog')
    } catch {
      // A store that cannot count cannot take more either.
      intake.pause('backlog')
    }
    await sleep(clock, intervalMs, stopping)
  }
}
