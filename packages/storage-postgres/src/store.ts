import { untilAborted, type Lease, type MessageStore, type SuspectGate } from '@litebus/core'
import { purge } from './admin/purge.ts'
import { get, query } from './admin/query.ts'
import { requeue } from './admin/requeue.ts'
import { runRetention } from './admin/retention.ts'
import { statusCounts } from './admin/status-counts.ts'
import { appendIn } from './append/append-in.ts'
import { createPendingLimit } from './append/pending-limit.ts'
import type { Database, Run } from './database/database.ts'
import type { PostgresTransaction } from './database/postgres-client.ts'
import { lease, type Leasing } from './lease/lease.ts'
import { ScanStates } from './lease/scan-state.ts'
import type { ResolvedOptions } from './options.ts'
import type { AxisNames } from './schema/names.ts'
import type { SchemaManager } from './schema/schema-manager.ts'
import { completeInTransaction } from './settle/complete-in-transaction.ts'
import { release } from './settle/release.ts'
import { renew } from './settle/renew.ts'
import { settle } from './settle/settle.ts'
import type { AxisSignal } from './signal/work-signal.ts'

/** What a store is made of. */
export interface StoreParts {
  readonly options: ResolvedOptions
  readonly database: Database
  /** The same with more patience, for what operators do. */
  readonly maintenance: Database
  readonly axis: AxisNames
  readonly gate: SuspectGate
  readonly signal: AxisSignal
  readonly schema: SchemaManager
  /** Refuses a schema that this package does not know; asks the database only until it was found to be right. */
  readonly ready: (run: Run) => Promise<void>
  /** The same, and always asks. */
  readonly check: (run: Run) => Promise<void>
  /** Wakes the processors of both axes: the gate opened. */
  readonly onGateOpened: () => void
}

/** Builds the store of one axis. Both axes are this one store over different tables. */
export function createStore(parts: StoreParts): MessageStore<PostgresTransaction> {
  const { options, database, maintenance, axis, gate, signal } = parts
  const monotonic = (): number => options.clock.monotonic()
  const context = { database, axis, monotonic }
  const administration = { database: maintenance, axis }
  const pending = createPendingLimit(context, options.maxPendingRows)
  const leasing: Leasing = {
    context,
    gate,
    states: new ScanStates(),
    turn: 0,
    lanesSeenMs: Number.NEGATIVE_INFINITY,
    lanesExist: true,
  }
  const readSchema: Run = (text, values) => database.read('read the schema', text, values)
  const ready = (): Promise<void> => parts.ready(readSchema)
  const ended = (leases: readonly Lease[]): void => {
    if (gate.ended(axis.axis, leases)) parts.onGateOpened()
    else if (leasing.lanesExist) signal.raise()
  }
  return {
    axis: axis.axis,
    async append(messages, appendOptions = {}) {
      appendOptions.signal?.throwIfAborted()
      await pending.admit(messages.length)
      const target = { database, axis, ready: parts.ready }
      const results = await untilAborted(appendIn(target, messages, appendOptions), appendOptions.signal)
      if (appendOptions.transaction === undefined) signal.raise()
      return results
    },
    async lease(request) {
      await ready()
      signal.looking(request)
      const batch = await lease(leasing, request)
      if (batch.envelopes.length > 0) signal.found()
      return batch
    },
    async renew(leases, leaseMs) {
      const results = await renew(context, leases, leaseMs)
      gate.renewed(
        axis.axis,
        leases.filter((_, index) => results[index] !== 'lost'),
        monotonic() + leaseMs,
      )
      const lost = leases.filter((_, index) => results[index] === 'lost')
      if (lost.length > 0) ended(lost)
      return results
    },
    async settle(outcomes, settleOptions) {
      settleOptions?.signal?.throwIfAborted()
      const results = await untilAborted(settle(database, axis, outcomes), settleOptions?.signal)
      ended(outcomes.map((outcome) => outcome.lease))
      return results
    },
    async release(leases, releaseOptions) {
      await release(context, leases, releaseOptions?.delayMs ?? 0)
      ended(leases)
      if ((releaseOptions?.delayMs ?? 0) === 0) signal.raise()
    },
    async completeInTransaction(held, work, completeOptions) {
      const result = await completeInTransaction(context, held, { work, signal: completeOptions?.signal })
      ended([held])
      return result
    },
    get: (id) => get(maintenance, axis, id),
    query: (messageQuery) => query(maintenance, axis, messageQuery),
    async requeue(filter, { limit = 1000 } = {}) {
      const result = await requeue(administration, filter, limit)
      signal.raise()
      return result
    },
    async purge(filter, { all = false, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const purged = await purge(administration, filter, { all, limit })
      signal.raise()
      return purged
    },
    statusCounts: () => statusCounts(maintenance, axis),
    runRetention: (request = {}) => runRetention(administration, request),
    schemaInfo: () => parts.schema.version(),
    waitForWork: (abort, maxWaitMs) => signal.wait(abort, maxWaitMs),
    isWorkSignalDegraded: () => signal.isDegraded(),
    probe: () => parts.check(readSchema),
  }
}
