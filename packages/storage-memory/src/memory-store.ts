import {
  assertLeaseRequest,
  claimantOf,
  untilAborted,
  type AppendOptions,
  type AppendResult,
  type Lease,
  type LeaseRequest,
  type MessageStore,
  type NewMessage,
  type SettleResult,
  type SuspectGate,
} from '@litebus/core'
import * as administration from './administration.ts'
import { append, takeTurns, type AppendContext } from './append.ts'
import type { AxisState } from './axis-state.ts'
import { leaseShared, leaseSuspect, type Leased } from './lease.ts'
import type { ResolvedOptions } from './options.ts'
import { fenced, release, renew, settle, succeed } from './settle.ts'
import type { MemoryTransaction, OpenTransaction, Transactions } from './transaction.ts'
import type { MemoryWorkSignal } from './work-signal.ts'

/** What the two stores of one storage share, and what each has of its own. */
export interface StoreParts {
  readonly options: ResolvedOptions
  readonly state: AxisState
  readonly transactions: Transactions
  readonly gate: SuspectGate
  readonly signal: MemoryWorkSignal
  /** Wakes the processors of both axes: the gate opened. */
  readonly onGateOpened: () => void
}

/** Builds the store of one axis. */
export function createMemoryStore(parts: StoreParts): MessageStore<MemoryTransaction> {
  const { state, gate, signal, transactions, options } = parts
  const { clock } = options
  const ended = (leases: readonly Lease[]): void => {
    if (gate.ended(state.axis, leases)) parts.onGateOpened()
  }
  let turn = 0
  return {
    axis: state.axis,
    append: (messages, appendOptions) => appendIn(parts, messages, appendOptions),
    lease(request) {
      return attempt(() => {
        assertLeaseRequest(request)
        request.signal?.throwIfAborted()
        signal.seen()
        const lanesFirst = ++turn % 2 === 0
        const leased = leaseUnderGate(parts, request, lanesFirst)
        // Nothing but suspects is due: unless something is held elsewhere, one of them may run right away.
        const onlySuspects = leased.suspectsWaiting && leased.batch.envelopes.length === 0
        return (onlySuspects ? leaseUnderGate(parts, request, lanesFirst) : leased).batch
      })
    },
    renew(leases, leaseMs) {
      return attempt(() => {
        const results = leases.map((lease) => renew(state, lease, clock.now() + leaseMs))
        const stands = leases.filter((_, index) => results[index] === 'renewed')
        gate.renewed(state.axis, stands, clock.monotonic() + leaseMs)
        ended(leases.filter((_, index) => results[index] === 'lost'))
        return results
      })
    },
    settle(outcomes, settleOptions) {
      return attempt(() => {
        settleOptions?.signal?.throwIfAborted()
        const now = clock.now()
        const results = outcomes.map((outcome) => settle(state, outcome, now))
        ended(outcomes.map((outcome) => outcome.lease))
        if (state.lanes.size > 0) signal.raise()
        return results
      })
    },
    release(leases, releaseOptions) {
      return attempt(() => {
        const delayMs = Math.max(0, releaseOptions?.delayMs ?? 0)
        for (const lease of leases) release(state, lease, clock.now() + delayMs)
        ended(leases)
        if (delayMs === 0) signal.raise()
      })
    },
    async completeInTransaction(lease, work, completeOptions) {
      const transaction = transactions.begin()
      try {
        await untilAborted(work(transaction), completeOptions?.signal)
      } catch (error) {
        transaction.rollback()
        throw error
      }
      return complete(parts, lease, transaction)
    },
    get: (id) =>
      attempt(() => {
        const row = state.byId.get(id)
        return row === undefined ? undefined : administration.recordOf(row)
      }),
    query: (query) => attempt(() => administration.query(state, query)),
    requeue: (filter, { limit = 1000 } = {}) =>
      attempt(() => {
        const result = administration.requeue(state, filter, { limit, now: clock.now() })
        signal.raise()
        return result
      }),
    purge: (filter, { all = false, limit = Number.MAX_SAFE_INTEGER } = {}) =>
      attempt(() => {
        const purged = administration.purge(state, filter, { all, limit, now: clock.now() })
        signal.raise()
        return purged
      }),
    statusCounts: () => attempt(() => administration.statusCounts(state, clock.now())),
    runRetention: (request = {}) => attempt(() => administration.runRetention(state, request, clock.now())),
    schemaInfo: () => Promise.resolve({ installed: 1, expected: 1 }),
    waitForWork: (abort, maxWaitMs) => signal.wait(clock, abort, maxWaitMs),
    isWorkSignalDegraded: () => false,
    probe: () => Promise.resolve(),
  }
}

function leaseUnderGate(parts: StoreParts, request: LeaseRequest, lanesFirst: boolean): Leased {
  const { state, gate, options } = parts
  const { clock } = options
  const claimant = claimantOf(state.axis, request)
  const decision = gate.ask(claimant, clock.monotonic())
  if (decision === 'closed')
    return { batch: { envelopes: [], parked: 0, more: false }, suspectsWaiting: false }
  let leased: Leased | undefined
  try {
    const time = { now: clock.now(), lanesFirst }
    leased = decision === 'shared' ? leaseShared(state, request, time) : leaseSuspect(state, request, time)
    return leased
  } finally {
    const nowMs = clock.monotonic()
    gate.granted(
      {
        decision,
        claimant,
        axis: state.axis,
        leases: leased?.batch.envelopes.map((envelope) => envelope.lease) ?? [],
        untilMs: nowMs + request.leaseMs,
        suspectsWaiting: leased?.suspectsWaiting ?? false,
      },
      nowMs,
    )
  }
}

async function appendIn(
  parts: StoreParts,
  messages: readonly NewMessage[],
  options: AppendOptions<MemoryTransaction> | undefined,
): Promise<readonly AppendResult[]> {
  const { state, transactions, options: resolved } = parts
  options?.signal?.throwIfAborted()
  const own = options?.transaction === undefined
  const transaction = own ? transactions.begin() : transactions.use(options.transaction)
  try {
    const context = (): AppendContext => ({
      state,
      transactions,
      transaction,
      now: resolved.clock.now(),
      maxPendingRows: resolved.maxPendingRows,
    })
    if (options?.ordering === 'commit') await takeTurns(context(), messages)
    const results = append(context(), messages)
    if (own) transaction.commit()
    return results
  } finally {
    if (own) transaction.rollback()
  }
}

function complete(parts: StoreParts, lease: Lease, transaction: OpenTransaction): SettleResult {
  const { state, gate, onGateOpened, options } = parts
  const row = fenced(state, lease)
  if (row === undefined) transaction.rollback()
  else {
    transaction.commit()
    succeed(state, row, options.clock.now())
  }
  if (gate.ended(state.axis, [lease])) onGateOpened()
  return row === undefined ? 'leaseLost' : 'applied'
}

/** Makes a synchronous operation a promise: what it throws becomes the rejection. */
function attempt<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}
