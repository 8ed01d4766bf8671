import type { LeasedEnvelope } from '@litebus/core'
import type { DispatchContext } from './dispatcher.ts'
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
  /** True once the dispatch was told to end. */
  readonly cancelled: boolean
  /** What the dispatcher sees. */
  readonly context: DispatchContext
  /** Aborts the dispatch. */
  abort(): void
}

/** Takes a leased row into this process. The abort signal is made only when somebody asks: it is not free. */
export function holdWork(
  envelope: LeasedEnvelope,
  pass: Pass,
  { deadline, stopping }: { readonly deadline: number; readonly stopping: AbortSignal },
): HeldWork {
  let controller: AbortController | undefined
  let aborted = false
  return {
    envelope,
    pass,
    deadline,
    stage: 'queued',
    lost: false,
    startedAt: 0,
    get cancelled() {
      return aborted
    },
    context: {
      stopping,
      get signal() {
        controller ??= new AbortController()
        if (aborted) controller.abort()
        return controller.signal
      },
    },
    abort() {
      aborted = true
      controller?.abort()
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
