import type { LeasedEnvelope } from '@litebus/core'
import type { DispatchContext } from './dispatcher.ts'
import { LazySignal } from './lazy-signal.ts'
import type { Pass } from './pass.ts'

/**
 * One leased row in this process, from the lease to the last word of the store. A class, since there is one for each
 * message: getters of an object literal cost more than the rest of it.
 */
export class HeldWork {
  /** The row. */
  readonly envelope: LeasedEnvelope
  /** The pass that counts it. */
  readonly pass: Pass
  /** Monotonic time after which nobody here may believe in the lease. */
  deadline: number
  /** Where it stands in this process. */
  stage: 'queued' | 'running' | 'settling' | 'done' = 'queued'
  /** True once the lease is known to be lost. */
  lost = false
  /** Monotonic start of the dispatch. */
  startedAt = 0
  /** Monotonic time at which a running dispatch is told to end, and once it was told, at which it is given up. */
  endsAt = 0
  /** True once the dispatch had used up its execution budget. */
  overdue = false
  readonly #context: WorkContext

  /** Takes a leased row into this process. */
  constructor(
    envelope: LeasedEnvelope,
    pass: Pass,
    { deadline, stopping }: { readonly deadline: number; readonly stopping: AbortSignal },
  ) {
    this.envelope = envelope
    this.pass = pass
    this.deadline = deadline
    this.#context = new WorkContext(stopping)
  }

  /** What the dispatcher sees. */
  get context(): DispatchContext {
    return this.#context
  }

  /** True once the dispatch was told to end. */
  get cancelled(): boolean {
    return this.#context.isEnding
  }

  /** Aborts the dispatch. */
  abort(): void {
    this.#context.ending.abort()
  }

  /** Tells the dispatch that nobody waits for it any longer. */
  giveUp(): void {
    this.#context.ending.abort()
    this.#context.nobodyWaits.abort()
  }
}

/**
 * Its signals are made only when somebody asks for them: handlers that do not, and the store that completes messages
 * in a transaction, which asks for one.
 */
class WorkContext implements DispatchContext {
  readonly stopping: AbortSignal
  #ending: LazySignal | undefined
  #nobodyWaits: LazySignal | undefined

  constructor(stopping: AbortSignal) {
    this.stopping = stopping
  }

  get isEnding(): boolean {
    return this.#ending?.aborted === true
  }

  get ending(): LazySignal {
    return (this.#ending ??= new LazySignal())
  }

  get nobodyWaits(): LazySignal {
    return (this.#nobodyWaits ??= new LazySignal())
  }

  get signal(): AbortSignal {
    return this.ending.signal
  }

  get givenUp(): AbortSignal {
    return this.nobodyWaits.signal
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
