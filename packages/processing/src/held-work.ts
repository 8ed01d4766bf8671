import type { LeasedEnvelope } from '@litebus/core'
import type { DispatchContext } from './dispatcher.ts'
import { LazySignal } from './lazy-signal.ts'
import type { Pass } from './pass.ts'

/** One leased row in this process, from the lease to the last word of the store. */
export interface HeldWork {
  /** The row. */
  readonly envelope: LeasedEnvelope
  /** The pass that counts it. */
  readonly pass: Pass
  /** Monotonic time after which nobody here may believe in the lease. */
  deadline: number
  /** Where it stands in this process. */
  stage: 'queued' | 'running' | 'settling' | 'done'
  /** True once the lease is known to be lost. */
  lost: boolean
  /** Monotonic start of the dispatch. */
  startedAt: number
  /** Monotonic time at which a running dispatch is told to end, and once it was told, at which it is given up. */
  endsAt: number
  /** True once the dispatch had used up its execution budget. */
  overdue: boolean
  /** True once the dispatch was told to end. */
  readonly cancelled: boolean
  /** What the dispatcher sees. */
  readonly context: DispatchContext
  /** Aborts the dispatch. */
  abort(): void
  /** Tells the dispatch that nobody waits for it any longer. */
  giveUp(): void
}

/**
 * Takes a leased row into this process. Its signals are made only when somebody asks for them: handlers that do not,
 * and the store that completes messages in a transaction, which asks for one.
 */
export function holdWork(
  envelope: LeasedEnvelope,
  pass: Pass,
  { deadline, stopping }: { readonly deadline: number; readonly stopping: AbortSignal },
): HeldWork {
  const ending = new LazySignal()
  const givenUp = new LazySignal()
  return {
    envelope,
    pass,
    deadline,
    stage: 'queued',
    lost: false,
    startedAt: 0,
    endsAt: 0,
    overdue: false,
    get cancelled() {
      return ending.aborted
    },
    context: {
      stopping,
      get signal() {
        return ending.signal
      },
      get givenUp() {
        return givenUp.signal
      },
    },
    abort() {
      ending.abort()
    },
    giveUp() {
      ending.abort()
      givenUp.abort()
    },
  }
}

/** All rows held in this process. Rows of one lease call may share a generation. */
export interface HeldLeases {
  /** How many are held. */
  readonly size: number
  /** Adds a row. */
  add(work: HeldWork): void
  /** Removes a row. */
  remove(work: HeldWork): void
  /** All rows, in the order of their leases. */
  all(): HeldWork[]
}

/** Starts with nothing held. */
export function createHeldLeases(): HeldLeases {
  const held = new Set<HeldWork>()
  return {
    get size() {
      return held.size
    },
    add: (work) => {
      held.add(work)
    },
    remove: (work) => {
      held.delete(work)
    },
    all: () => [...held],
  }
}
