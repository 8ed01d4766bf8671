import { ArgumentError } from '../errors/errors.ts'
import { checkOptions } from '../options/option-checks.ts'
import type { LeaseRequest } from '../ports/lease.ts'

/** Defaults of a {@link LeaseRequest}. */
export const leaseRequestDefaults: {
  /** Most rows of one ordering key in one lease. */
  readonly maxPerKey: number
  /** What a parked message does to its key. */
  readonly onKeyDeadLetter: 'block'
} = Object.freeze({ maxPerKey: 100, onKeyDeadLetter: 'block' })

/**
 * Refuses a lease request that no store could answer.
 *
 * @throws ArgumentError that names every fault.
 */
export function assertLeaseRequest(request: LeaseRequest): void {
  const checks = checkOptions()
  checks.text('owner', request.owner)
  checks.integer('limit', request.limit, { min: 1, max: 10_000 })
  checks.duration('leaseMs', request.leaseMs, { min: 1 })
  checks.integer('maxAttempts', request.maxAttempts, { min: 1 })
  checks.integer('maxPerKey', request.maxPerKey ?? leaseRequestDefaults.maxPerKey, { min: 1, max: 10_000 })
  if (checks.faults.length > 0) throw new ArgumentError(`lease request: ${checks.faults.join('; ')}`)
}

/** Names a processor to a {@link SuspectGate}: who asks, and for which messages. */
export function claimantOf(axis: string, request: LeaseRequest): string {
  return JSON.stringify([axis, request.owner, request.tenants, request.contracts])
}
