import {
  failureCode,
  type Lease,
  type RenewResult,
  type SettleOutcome,
  type SettleResult,
} from '@litebus/core'
import { recordFailure, type AxisState } from './axis-state.ts'
import type { Row } from './row.ts'

/** The row of a lease, when owner and generation still match. */
export function fenced(state: AxisState, lease: Lease): Row | undefined {
  const row = state.byId.get(lease.id)
  if (row?.lease === undefined || String(row.sequence) !== lease.sequence) return undefined
  return row.lease.owner === lease.owner && row.lease.generation === lease.generation ? row : undefined
}

/** Records one outcome. */
export function settle(state: AxisState, outcome: SettleOutcome, now: number): SettleResult {
  const row = fenced(state, outcome.lease)
  if (row === undefined) return 'leaseLost'
  if (outcome.kind === 'succeeded') succeed(state, row, now)
  else {
    const failure = { category: outcome.category, code: failureCode(outcome.code) }
    if (outcome.kind === 'deadLettered') state.park(row, failure, now)
    else {
      recordFailure(row, failure, now)
      row.suspect = false
      wait(state, row, now + Math.max(0, outcome.delayMs))
    }
  }
  return 'applied'
}

/** Records success. */
export function succeed(state: AxisState, row: Row, now: number): void {
  state.dequeue(row, 'done')
  row.endedAt = now
}

/** Extends a lease. */
export function renew(state: AxisState, lease: Lease, expiresAt: number): RenewResult {
  const row = fenced(state, lease)
  if (row?.lease === undefined) return 'lost'
  row.lease.expiresAt = expiresAt
  return 'renewed'
}

/** Gives a lease back together with its attempt. A suspect stays one: it has not run to an end. */
export function release(state: AxisState, lease: Lease, dueAt: number): void {
  const row = fenced(state, lease)
  if (row === undefined) return
  row.attempts = Math.max(0, row.attempts - 1)
  wait(state, row, dueAt)
}

function wait(state: AxisState, row: Row, dueAt: number): void {
  row.lease = undefined
  row.dueAt = dueAt
  const lane = row.message.orderingKey === undefined ? undefined : state.laneOf(row)
  if (lane !== undefined) {
    lane.leased.delete(row)
    return
  }
  state.leased.delete(row)
  if (row.suspect) state.suspects.add(row)
  else state.due.push(row)
}
