import type { LeaseRequest } from '@litebus/core'
import { IdlePlan } from './idle-plan.ts'
import type { Listener } from './listener.ts'
import type { Sleeper } from './sleepers.ts'
import type { Wakers } from './wakers.ts'

/** The work signal of one axis. */
export interface AxisSignal {
  /** Work may be there, by this process's own knowledge. */
  raise(): void
  /** A processor looks now, for what its request lets through. */
  looking(request: Pick<LeaseRequest, 'contracts' | 'tenants'>): void
  /** It has found something. */
  found(): void
  /** See `WorkSignal.waitForWork`. */
  wait(signal: AbortSignal, maxWaitMs: number): Promise<void>
  /** True while the configured listener does not work. */
  isDegraded(): boolean
  /** Gives up notifications. */
  close(): Promise<void>
}

/** Builds the signal from its parts; without a listener only the process itself and polling wake. */
export function createAxisSignal(
  wakers: Wakers,
  listener: Listener | undefined,
  sleeper: Sleeper,
): AxisSignal {
  const plan = new IdlePlan()
  let asked = false
  return {
    raise: () => {
      wakers.raise()
    },
    looking: (request) => {
      sleeper.seeks(request)
      wakers.seen()
    },
    found: () => {
      plan.reset()
      sleeper.wake()
    },
    async wait(signal, maxWaitMs) {
      listener?.start()
      const { waitMs, asksBefore } = plan.current(maxWaitMs)
      if (listener === undefined) {
        await wakers.wait(signal, maxWaitMs)
        return
      }
      if (asksBefore && listener.isListening) {
        asked = true
        await sleeper.sleep()
      }
      if (await wakers.wait(signal, waitMs)) plan.advance()
    },
    isDegraded: () => listener?.isDegraded ?? false,
    async close() {
      if (asked) await sleeper.close()
    },
  }
}
