import { leaseRequestDefaults, type LeasedEnvelope, type LeaseRequest } from '@litebus/core'
import { decodeLeased } from './decode-leased.ts'
import { callLease, filterArguments, refetchBodies, type LeaseContext } from './lease-context.ts'
import type { ScanState } from './scan-state.ts'

/** Leases exactly one suspect, if one is there. */
export async function leaseSuspect(
  context: LeaseContext,
  state: ScanState,
  request: LeaseRequest,
): Promise<readonly LeasedEnvelope[]> {
  const rows = await callLease(context, 'lease_suspect', [
    Math.floor(state.dueLow.value),
    state.walk.suspects,
    request.owner,
    request.leaseMs,
    request.maxAttempts,
    request.onKeyDeadLetter ?? leaseRequestDefaults.onKeyDeadLetter,
    ...filterArguments(request),
  ])
  const { envelopes } = await decodeLeased(rows, {
    owner: request.owner,
    suspect: true,
    refetch: refetchBodies(context),
  })
  return envelopes
}
