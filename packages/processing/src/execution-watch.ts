import type { Clock, Timer } from '@litebus/core'
import type { HeldLeases, HeldWork } from './held-work.ts'

/** Ends dispatches that do not end by themselves. */
export interface ExecutionWatch {
  /** Watches while anything is held. */
  ensureWatching(): void
  /** Ends the watch. */
  stop(): void
}

/** What a watch works with. */
export interface ExecutionWatchOptions {
  /** What is held. */
  readonly held: HeldLeases
  /** How long a dispatch may take, in milliseconds. */
  readonly executionBudgetMs: number
  /** How long it may take to end after it was told to, in milliseconds. */
  readonly abortWaitMs: number
  /** Longest interval between two looks, in milliseconds. */
  readonly heartbeatMs: number
  /** Time. */
  readonly clock: Clock
  /** Called for a dispatch that did not end although it was told to. */
  readonly onGivenUp: (work: HeldWork) => void
}

/** One timer for everything that runs: it is set to the next end of a budget, and a message costs none of its own. */
export function createExecutionWatch(options: ExecutionWatchOptions): ExecutionWatch {
  const { held, clock, executionBudgetMs, abortWaitMs, heartbeatMs, onGivenUp } = options
  const longestMs = Math.min(heartbeatMs, executionBudgetMs)
  let timer: Timer | undefined
  let stopped = false

  const look = (): void => {
    timer = undefined
    const now = clock.monotonic()
    let next = now + longestMs
    for (const work of held.all()) {
      if (work.stage !== 'running') continue
      if (work.endsAt <= now) end(work, now)
      if (work.endsAt > now) next = Math.min(next, work.endsAt)
    }
    schedule(next - now)
  }
  const end = (work: HeldWork, now: number): void => {
    if (work.cancelled) {
      onGivenUp(work)
      return
    }
    work.overdue = true
    work.endsAt = now + abortWaitMs
    work.abort()
  }
  const schedule = (delayMs: number): void => {
    if (timer !== undefined || stopped || held.size === 0) return
    timer = clock.schedule(delayMs, look)
  }
  return {
    ensureWatching() {
      schedule(longestMs)
    },
    stop() {
      stopped = true
      timer?.cancel()
      timer = undefined
    },
  }
}
