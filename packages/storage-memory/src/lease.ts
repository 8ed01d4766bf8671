import {
  keyParked,
  leaseExpired,
  leaseRequestDefaults,
  type LeaseBatch,
  type LeasedEnvelope,
  type LeaseRequest,
} from '@litebus/core'
import { recordFailure, type AxisState } from './axis-state.ts'
import type { Lane } from './lane.ts'
import { isDue, isHeld, isSuspect, tenantOf, type Row } from './row.ts'

/** What a lease call found. */
export interface Leased {
  readonly batch: LeaseBatch
  readonly suspectsWaiting: boolean
}

interface Pass {
  readonly state: AxisState
  readonly request: LeaseRequest
  readonly now: number
  readonly taken: Row[]
  parked: number
}

/** Leases due messages that are no suspects. `lanesFirst` takes turns, so that neither kind starves the other. */
export function leaseShared(state: AxisState, request: LeaseRequest, { now, lanesFirst }: LeaseTime): Leased {
  const pass: Pass = { state, request, now, taken: [], parked: 0 }
  parkExhausted(pass)
  if (lanesFirst) takeLanes(pass)
  takeUnordered(pass)
  if (!lanesFirst) takeLanes(pass)
  const suspectsWaiting = findSuspect(pass) !== undefined
  const full = pass.taken.length >= request.limit
  const envelopes = pass.taken.map((row) => take(pass, row))
  return { batch: batchOf(pass, envelopes, full), suspectsWaiting }
}

/** Leases exactly one suspect, when there is one. */
export function leaseSuspect(state: AxisState, request: LeaseRequest, { now }: LeaseTime): Leased {
  const pass: Pass = { state, request, now, taken: [], parked: 0 }
  parkExhausted(pass)
  const row = findSuspect(pass)
  const envelopes = row === undefined ? [] : [take(pass, row)]
  return {
    batch: batchOf(pass, envelopes, row === undefined),
    suspectsWaiting: findSuspect(pass) !== undefined,
  }
}

/** When a lease call happens. */
export interface LeaseTime {
  readonly now: number
  readonly lanesFirst: boolean
}

function take({ state, request, now }: Pass, row: Row): LeasedEnvelope {
  const suspect = isSuspect(row, now)
  if (row.lease !== undefined) recordFailure(row, leaseExpired, now)
  const generation = state.nextGeneration()
  row.lease = { owner: request.owner, generation, expiresAt: now + request.leaseMs }
  row.suspect = suspect
  row.attempts += 1
  state.suspects.delete(row)
  if (row.message.orderingKey === undefined) state.leased.add(row)
  else state.laneOf(row)?.leased.add(row)
  return {
    lease: { id: row.message.id, sequence: String(row.sequence), owner: request.owner, generation },
    message: { ...row.message, body: Uint8Array.from(row.message.body) },
    attempt: row.attempts,
    suspect,
    ...(row.firstFailureAt === undefined ? {} : { firstFailureAt: new Date(row.firstFailureAt) }),
  }
}

function takeUnordered(pass: Pass): void {
  const { state, request, now } = pass
  const foreign: Row[] = []
  for (let row = state.due.first; row !== undefined && row.dueAt <= now; row = state.due.first) {
    if (pass.taken.length >= request.limit) break
    state.due.pop()
    if (row.place !== 'queue' || row.lease !== undefined) continue
    if (matches(request, row)) pass.taken.push(row)
    else foreign.push(row)
  }
  for (const row of foreign) state.due.push(row)
}

function takeLanes(pass: Pass): void {
  const { state, request } = pass
  for (const lane of [...state.lanes.values()]) {
    if (pass.taken.length >= request.limit) return
    if (!isOpen(pass, lane)) continue
    const before = pass.taken.length
    for (const row of lane.rows) {
      const size = pass.taken.length - before
      if (size >= (request.maxPerKey ?? leaseRequestDefaults.maxPerKey)) break
      if (pass.taken.length >= request.limit) break
      if (!isDue(row, pass.now) || isSuspect(row, pass.now) || !matches(request, row)) break
      pass.taken.push(row)
    }
    if (pass.taken.length > before) {
      state.lanes.delete(lane.id)
      state.lanes.set(lane.id, lane)
    }
  }
}

/** Whether a lane may be leased from: no run in flight, and nothing parked that stops it. */
function isOpen(pass: Pass, lane: Lane): boolean {
  if ([...lane.leased].some((row) => isHeld(row, pass.now))) return false
  if (lane.letters.size === 0) return true
  const policy = pass.request.onKeyDeadLetter ?? leaseRequestDefaults.onKeyDeadLetter
  if (policy === 'park') {
    for (const row of lane.rows.filter((entry) => matches(pass.request, entry))) {
      pass.state.park(row, keyParked, pass.now)
      pass.parked += 1
    }
  }
  return policy === 'skip'
}

function parkExhausted(pass: Pass): void {
  const { state, request, now } = pass
  const heads = [...state.lanes.values()]
    .filter((lane) => isOpen(pass, lane))
    .map((lane) => lane.rows[0])
    .filter((row) => row !== undefined)
  for (const row of [...state.leased, ...heads]) {
    if (row.lease === undefined || row.lease.expiresAt > now) continue
    if (row.attempts < request.maxAttempts || !matches(request, row)) continue
    state.park(row, leaseExpired, now)
    pass.parked += 1
  }
}

function findSuspect(pass: Pass): Row | undefined {
  const { state, request, now } = pass
  const waits = (row: Row): boolean => isDue(row, now) && isSuspect(row, now) && matches(request, row)
  for (const row of [...state.leased, ...state.suspects]) if (waits(row)) return row
  for (const lane of state.lanes.values()) {
    const head = lane.rows[0]
    if (head !== undefined && waits(head) && isOpen(pass, lane)) return head
  }
  return undefined
}

function matches({ tenants, contracts }: LeaseRequest, row: Row): boolean {
  return (tenants?.includes(tenantOf(row)) ?? true) && (contracts?.includes(row.message.contractName) ?? true)
}

function batchOf(pass: Pass, envelopes: readonly LeasedEnvelope[], full: boolean): LeaseBatch {
  const { state, now, parked } = pass
  const more = full && hasDue(pass)
  const next = Math.min(
    state.due.first?.dueAt ?? Infinity,
    ...(state.lanes.size > 1000
      ? []
      : [...state.lanes.values()].map((lane) => lane.rows[0]?.dueAt ?? Infinity)),
  )
  return {
    envelopes,
    parked,
    more,
    ...(Number.isFinite(next) && next > now ? { nextDueInMs: next - now } : {}),
  }
}

function hasDue(pass: Pass): boolean {
  const { state, now, request } = pass
  const first = state.due.first
  if (first !== undefined && first.dueAt <= now) return true
  for (const lane of state.lanes.values()) {
    const head = lane.rows[0]
    if (head === undefined || !isDue(head, now) || isSuspect(head, now) || !matches(request, head)) continue
    if (isOpen(pass, lane)) return true
  }
  return false
}
