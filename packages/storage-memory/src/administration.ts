import {
  InvalidOperationError,
  leaseExpired,
  type MessageFilter,
  type MessagePage,
  type MessageQuery,
  type MessageRecord,
  type RequeueResult,
  type RetentionRequest,
  type RetentionResult,
  type StatusCounts,
} from '@litebus/core'
import { digestOf } from './append.ts'
import type { AxisState } from './axis-state.ts'
import { isHeld, stateOf, tenantOf, type Row } from './row.ts'

const day = 86_400_000

/** A row as operators see it. */
export function recordOf(row: Row): MessageRecord {
  return {
    message: { ...row.message, body: Uint8Array.from(row.message.body) },
    payload: row.payload,
    state: stateOf(row),
    attempts: row.attempts,
    failures: row.failures,
    ...(row.place === 'queue' && row.lease === undefined ? { dueAt: new Date(row.dueAt) } : {}),
    ...(row.endedAt === undefined ? {} : { endedAt: new Date(row.endedAt) }),
    ...(row.firstFailureAt === undefined ? {} : { firstFailureAt: new Date(row.firstFailureAt) }),
  }
}

/** One page by sequence. */
export function query(state: AxisState, { after, limit = 100, ...filter }: MessageQuery): MessagePage {
  const from = after === undefined ? 0 : Number(after)
  const found = select(state, filter).filter((row) => row.sequence > from)
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    records: page.map(recordOf),
    ...(found.length > page.length && last !== undefined ? { next: String(last.sequence) } : {}),
  }
}

/** Makes dead letters pending again. */
export function requeue(
  state: AxisState,
  filter: MessageFilter,
  { limit, now }: { readonly limit: number; readonly now: number },
): RequeueResult {
  const rows = select(state, filter)
    .filter((row) => row.place === 'dead')
    .slice(0, limit)
  for (const row of rows) {
    state.unpark(row)
    row.attempts = 0
    row.endedAt = undefined
    row.dueAt = now
    row.suspect = row.failures.at(-1)?.code === leaseExpired.code
    state.enqueue(row)
  }
  return { requested: rows.length, requeued: rows.length }
}

/** Deletes messages that are not leased. */
export function purge(
  state: AxisState,
  filter: MessageFilter,
  { all, limit, now }: { readonly all: boolean; readonly limit: number; readonly now: number },
): number {
  if (!all && Object.values(filter).every((value) => value === undefined)) {
    throw new InvalidOperationError(
      'expected a filter or { all: true }: this purge would delete every message',
    )
  }
  const rows = select(state, filter)
    .filter((row) => !isHeld(row, now))
    .slice(0, limit)
  for (const row of rows) state.forget(row)
  return rows.length
}

/** Counts by state. */
export function statusCounts(state: AxisState, now: number): StatusCounts {
  const counts = { awaiting: 0, leased: 0, retryScheduled: 0, parked: 0 }
  let oldest = Infinity
  for (const row of state.byId.values()) {
    const at = stateOf(row)
    if (at === 'succeeded') continue
    counts[at] += 1
    if (row.place === 'queue' && row.lease === undefined) oldest = Math.min(oldest, row.dueAt)
  }
  const keysBlocked = [...state.lanes.values()].filter((lane) => lane.letters.size > 0).length
  return { ...counts, keysBlocked, ...(oldest <= now ? { oldestDueAgeMs: now - oldest } : {}) }
}

/** Deletes payloads, later identities, of succeeded messages. */
export function runRetention(
  state: AxisState,
  { retentionMs = 7 * day, dedupRetentionMs = 30 * day, limit = 10_000 }: RetentionRequest,
  now: number,
): RetentionResult {
  let payloads = 0
  let identities = 0
  for (const row of state.byId.values()) {
    if (row.place !== 'done' || payloads + identities >= limit) continue
    const age = now - (row.endedAt ?? row.createdAt)
    if (age >= retentionMs && row.payload === 'stored') {
      payloads += 1
      stripPayload(row)
    }
    if (age >= Math.max(retentionMs, dedupRetentionMs)) {
      identities += 1
      state.forget(row)
    }
  }
  return { payloads, identities }
}

function stripPayload(row: Row): void {
  row.bodyDigest = digestOf(row.message.body)
  const { id, contractName, contractVersion, createdAt, tenantId, idempotencyKey, trace } = row.message
  row.message = {
    id,
    contractName,
    contractVersion,
    createdAt,
    body: new Uint8Array(),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(trace === undefined ? {} : { trace }),
  }
  row.payload = 'deleted'
}

function select(state: AxisState, filter: MessageFilter): Row[] {
  const { ids, states, contracts, tenants, orderingKey, failureCode, createdFrom, createdBefore } = filter
  return [...state.byId.values()]
    .filter(
      (row) =>
        (ids?.includes(row.message.id) ?? true) &&
        (states?.includes(stateOf(row)) ?? true) &&
        (contracts?.includes(row.message.contractName) ?? true) &&
        (tenants?.includes(tenantOf(row)) ?? true) &&
        (orderingKey === undefined || row.message.orderingKey === orderingKey) &&
        (failureCode === undefined || (row.place === 'dead' && row.failures.at(-1)?.code === failureCode)) &&
        (createdFrom === undefined || row.createdAt >= createdFrom.getTime()) &&
        (createdBefore === undefined || row.createdAt < createdBefore.getTime()),
    )
    .sort((a, b) => a.sequence - b.sequence)
}
