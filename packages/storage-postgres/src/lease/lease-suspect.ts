import { leaseRequestDefaults, type LeasedEnvelope, type LeaseRequest } from '@litebus/core'
import { callLease, filterArguments, type LeaseContext } from './lease-context.ts'
import type { ScanState } from './scan-state.ts'

/** Leases exactly one suspect, if one is there. */
export async function leaseSuspect(
  context: LeaseContext,
  state: ScanState,
  request: LeaseRequest,
): Promise<readonly LeasedEnvelope[]> {
  const values = [
    Math.floor(state.dueLow.value),
    state.walk.suspects,
    request.owner,
    request.leaseMs,
    request.maxAttempts,
    request.onKeyDeadLetter ?? leaseRequestDefaults.onKeyDeadLetter,
    ...filterArguments(request),
  ]
  const { owner } = request
  const { envelopes } = await callLease(context, { name: 'lease_suspect', values, owner, suspect: true })
  return envelopes
}
