import { backoffDelayMs, sleep, type Clock, type WorkSignal } from '@litebus/core'
import type { LeasedPass } from './lease-pass.ts'
import type { ProcessorState } from './processor-state.ts'
import type { TroubleLog } from './trouble-log.ts'
import type { WakeUp } from './wake-up.ts'

/** What the loop works with. */
export interface ProcessorLoopOptions {
  /** Leases one batch and starts it. */
  readonly lease: () => Promise<LeasedPass>
  /** Whether another batch may be held now. */
  readonly hasRoom: () => boolean
  /** Whether nothing is held and nothing is being leased. */
  readonly isIdle: () => boolean
  /** Ends waits. */
  readonly wakeUp: WakeUp
  /** Where trouble is logged. */
  readonly trouble: TroubleLog
  /** Tells when to look. */
  readonly store: WorkSignal
  /** Time. */
  readonly clock: Clock
  /** Longest wait between two looks. */
  readonly pollMs: number
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Called for each fault. */
  readonly onError: () => void
  /** What the processor should do. */
  readonly state: () => ProcessorState
  /** Called when a drain found nothing due and nothing held. */
  readonly onDrained: () => void
}

/** Leases while there is room and work; otherwise waits for either. A fault delays it and never ends it. */
export async function runLoop(options: ProcessorLoopOptions): Promise<void> {
  const { lease, hasRoom, isIdle, wakeUp, trouble, store, clock, pollMs, stopping } = options
  let faults = 0
  while (!stopping.aborted) {
    if (options.state() === 'paused' || !hasRoom()) {
      await wakeUp.wait(stopping)
      continue
    }
    try {
      const { batch } = await lease()
      trouble.recovered('lease')
      faults = 0
      if (batch.more) continue
      if (options.state() === 'draining' && batch.envelopes.length === 0 && isIdle()) {
        options.onDrained()
        continue
      }
      const waitMs = Math.min(pollMs, batch.nextDueInMs ?? pollMs)
      await wakeUp.during(stopping, (ended) => store.waitForWork(ended, waitMs))
    } catch (error) {
      faults += 1
      options.onError()
      trouble.failed('lease', error)
      const delayMs = backoffDelayMs(faults, faultBackoff(pollMs), options.random)
      await wakeUp.during(stopping, (ended) => sleep(clock, delayMs, ended))
    }
  }
}

/** Quick at first, since most faults are a lost connection, then slow enough not to hammer a database that restarts. */
function faultBackoff(pollMs: number): { initialDelayMs: number; maxDelayMs: number; jitter: 'equal' } {
  return { initialDelayMs: Math.min(100, pollMs), maxDelayMs: Math.max(5000, pollMs), jitter: 'equal' }
}
