import { leaseRequestDefaults, type LeasedEnvelope, type LeaseRequest } from '@litebus/core'
import { laneIdOf } from '../database/lane-id.ts'
import type { LaneWalk } from './lane-walk.ts'
import { orNothing } from './or-nothing.ts'
import { callLease, filterArguments, type LeaseContext } from './lease-context.ts'

/** One call looks at this many portions of lanes, and this long, before it answers with what it has. */
const maxRounds = 8
const maxWalkMs = 100

/** What a walk over lanes brought. */
export interface LeasedLanes {
  readonly envelopes: readonly LeasedEnvelope[]
  readonly parked: number
  /** True when the walk stopped for the limit, before it came around. */
  readonly stopped: boolean
  /** True when there are lanes at all. */
  readonly any: boolean
  readonly nextDueInMs: number | undefined
  readonly suspects: boolean
}

/**
 * Leases rows with ordering key. The walk goes on where the last one stopped, by what it looked at and not by what
 * it leased: or keys that only retry would be all it ever sees.
 */
export async function leaseLanes(
  context: LeaseContext,
  walk: LaneWalk,
  request: LeaseRequest,
): Promise<LeasedLanes> {
  const startedMs = context.monotonic()
  const start = walk.cursor
  const envelopes: LeasedEnvelope[] = []
  const suspects: string[] = []
  let parked = 0
  let any = false
  let wrapped = false
  let nextDueInMs: number | undefined
  for (let round = 0; round < maxRounds && envelopes.length < request.limit; round += 1) {
    if (round > 0 && context.monotonic() - startedMs > maxWalkMs) break
    const limit = request.limit - envelopes.length
    const lanes = walk.lanesFor(limit, round)
    const { toMark } = walk
    const values = [
      walk.cursor,
      lanes,
      request.maxPerKey ?? leaseRequestDefaults.maxPerKey,
      limit,
      request.owner,
      request.leaseMs,
      request.maxAttempts,
      request.onKeyDeadLetter ?? leaseRequestDefaults.onKeyDeadLetter,
      toMark,
      ...filterArguments(request),
    ]
    const { owner } = request
    const call = callLease(context, { name: 'lease_lanes', values, owner, suspect: false })
    const part = await orNothing(call, envelopes.length > 0)
    if (part === undefined) break
    const { header } = part
    const walked = header.walked ?? 0
    any ||= walked > 0
    parked += header.parked ?? 0
    suspects.push(...(header.suspects ?? []))
    nextDueInMs = header.nextDue == null ? undefined : (header.nextDue - (header.now ?? 0)) / 1000
    walk.learn(rowsByLane(part.envelopes), { asked: toMark, nowMs: context.monotonic() })
    envelopes.push(...part.envelopes)
    if (part.envelopes.length >= limit) {
      walk.cursor = laneOf(part.envelopes.at(-1))
      break
    }
    const ended = walked < lanes
    if (ended) walk.cameAround()
    else walk.cursor = header.last ?? ''
    if (wrapped && walk.cursor >= start) break
    if (ended && (wrapped || start === '')) break
    wrapped ||= ended
  }
  walk.suspects = suspects.slice(0, 100)
  const stopped = envelopes.length >= request.limit
  return { envelopes, parked, stopped, any, nextDueInMs, suspects: suspects.length > 0 }
}

function rowsByLane(envelopes: readonly LeasedEnvelope[]): ReadonlyMap<string, number> {
  const rows = new Map<string, number>()
  for (const envelope of envelopes) {
    const lane = laneOf(envelope)
    rows.set(lane, (rows.get(lane) ?? 0) + 1)
  }
  return rows
}

function laneOf(envelope: LeasedEnvelope | undefined): string {
  const { tenantId, orderingKey } = envelope?.message ?? {}
  return orderingKey === undefined ? '' : laneIdOf(tenantId, orderingKey)
}
