import type { FailureRecord, MessageState, StoredMessage } from '@litebus/core'

/** Where a row is; a message is in exactly one place. */
type Place = 'queue' | 'dead' | 'done' | 'gone'

/** One message with everything that changes about it. */
export interface Row {
  readonly sequence: number
  readonly createdAt: number
  message: StoredMessage
  payload: 'stored' | 'deleted'
  /** Set when the payload is deleted. */
  bodyDigest: string | undefined
  place: Place
  dueAt: number
  attempts: number
  lease: RowLease | undefined
  suspect: boolean
  firstFailureAt: number | undefined
  failures: readonly FailureRecord[]
  endedAt: number | undefined
}

/** The lease that a row is under; expired ones stay until somebody takes the row. */
interface RowLease {
  readonly owner: string
  readonly generation: string
  expiresAt: number
}

/** Tenant of a row, the unscoped partition being the empty string. */
export function tenantOf(row: Row): string {
  return row.message.tenantId ?? ''
}

/** Where a row stands, in the words of the port. */
export function stateOf(row: Row): MessageState {
  if (row.place === 'done') return 'succeeded'
  if (row.place === 'dead') return 'parked'
  if (row.lease !== undefined) return 'leased'
  return row.attempts > 0 ? 'retryScheduled' : 'awaiting'
}

/** Whether a row is under a lease that has not expired. */
export function isHeld(row: Row, now: number): boolean {
  return row.lease !== undefined && row.lease.expiresAt > now
}

/** Whether a row may have ended its process. */
export function isSuspect(row: Row, now: number): boolean {
  return row.suspect || (row.lease !== undefined && row.lease.expiresAt <= now)
}

/** Whether a row waits for a lease, by due time or because its lease expired. */
export function isDue(row: Row, now: number): boolean {
  return row.lease === undefined ? row.dueAt <= now : row.lease.expiresAt <= now
}
