import {
  isLiteBusError,
  sleep,
  type Clock,
  type Lease,
  type MessageStore,
  type SettleOutcome,
  type SettleResult,
} from '@litebus/core'
import type { HeldWork } from './held-work.ts'
import type { TroubleLog } from './trouble-log.ts'

/** What became of a settlement; `failed`: the store could not be told while the lease was believed in. */
type SettleAnswer = SettleResult | 'failed'

/** Hears what became of a settlement; one function for all of them, and not one for each message. */
export type SettlementTold = (work: HeldWork, outcome: SettleOutcome, answer: SettleAnswer) => void

/**
 * Group commit: what finished since the last statement is settled by the next one, so that a message is settled no
 * later than one round trip after it finished, and many of them cost one statement.
 */
export interface Settler {
  /** Settles one row; `told` hears what became of it. */
  settle(work: HeldWork, outcome: SettleOutcome, told: SettlementTold): void
  /** Gives one row back; answers when the store was told, or could not be. */
  release(work: HeldWork, delayMs: number, answer: () => void): void
  /** Ends retries of statements that the store could not take. */
  giveUp(): void
}

/** What a settler works with. */
export interface SettlerOptions {
  /** The store. */
  readonly store: Pick<MessageStore, 'settle' | 'release'>
  /** Time. */
  readonly clock: Clock
  /** Where trouble is logged. */
  readonly trouble: TroubleLog
  /** Passed to terminal settles when the processor honours a shutdown there. */
  readonly signal?: AbortSignal
}

interface Waiting {
  readonly work: HeldWork
  readonly outcome: SettleOutcome
  readonly told: SettlementTold
}

function tell({ work, outcome, told }: Waiting, answer: SettleAnswer): void {
  told(work, outcome, answer)
}

/** Successes and failures are statements of their own, side by side, and the fault of one is not that of the other. */
function byKind(entries: readonly Waiting[]): Waiting[][] {
  const succeeded = entries.filter(({ outcome }) => outcome.kind === 'succeeded')
  const failed = entries.filter(({ outcome }) => outcome.kind !== 'succeeded')
  return [succeeded, failed].filter((group) => group.length > 0)
}

const firstRetryMs = 50
const longestRetryMs = 2000

/** Starts with nothing to settle. */
export function createSettler({ store, clock, trouble, signal }: SettlerOptions): Settler {
  const ending = new AbortController()
  let waiting: Waiting[] = []
  let returning = new Map<number, { readonly lease: Lease; readonly answer: () => void }[]>()
  let busy = false

  const schedule = (): void => {
    if (busy) return
    busy = true
    // The next turn of the event loop, so that everything that finishes in this one goes with it.
    setImmediate(() => void run())
  }
  const run = async (): Promise<void> => {
    while (waiting.length > 0 || returning.size > 0) {
      const settling = waiting
      const releasing = returning
      waiting = []
      returning = new Map()
      await Promise.all(byKind(settling).map(settleAll))
      for (const [delayMs, entries] of releasing) await releaseAll(delayMs, entries)
    }
    busy = false
  }
  const settleAll = async (entries: Waiting[]): Promise<void> => {
    let left = entries
    for (let delayMs = firstRetryMs; ; delayMs = Math.min(delayMs * 2, longestRetryMs)) {
      try {
        const results = await store.settle(
          left.map((entry) => entry.outcome),
          signal === undefined ? {} : { signal },
        )
        trouble.recovered('settle')
        left.forEach((entry, index) => {
          tell(entry, results[index] ?? 'failed')
        })
        return
      } catch (error) {
        trouble.failed('settle', error)
        if (!isLiteBusError(error, 'STORE_UNAVAILABLE')) {
          await settleApart(left)
          return
        }
        left = stillHeld(left)
        if (left.length === 0) return
        await sleep(clock, delayMs, ending.signal)
      }
    }
  }
  /** Something in the group is refused: alone, the others are not hurt by it. */
  const settleApart = async (entries: Waiting[]): Promise<void> => {
    if (entries.length === 1) failAll(entries)
    else for (const entry of entries) await settleAll([entry])
  }
  /** A settle is fenced, so telling the store again is safe as long as the lease may stand. */
  const stillHeld = (entries: Waiting[]): Waiting[] => {
    const now = clock.monotonic()
    const stands = (entry: Waiting): boolean => !ending.signal.aborted && entry.work.deadline > now
    failAll(entries.filter((entry) => !stands(entry)))
    return entries.filter(stands)
  }
  const failAll = (entries: readonly Waiting[]): void => {
    for (const entry of entries) tell(entry, 'failed')
  }
  const releaseAll = async (
    delayMs: number,
    entries: readonly { readonly lease: Lease; readonly answer: () => void }[],
  ): Promise<void> => {
    try {
      await store.release(
        entries.map((entry) => entry.lease),
        { delayMs },
      )
    } catch (error) {
      // The leases run out, and another owner takes the rows.
      trouble.failed('release', error)
    }
    for (const entry of entries) entry.answer()
  }
  return {
    settle(work, outcome, told) {
      waiting.push({ work, outcome, told })
      schedule()
    },
    release(work, delayMs, answer) {
      const entries = returning.get(delayMs)
      const entry = { lease: work.envelope.lease, answer }
      if (entries === undefined) returning.set(delayMs, [entry])
      else entries.push(entry)
      schedule()
    },
    giveUp() {
      ending.abort()
    },
  }
}
