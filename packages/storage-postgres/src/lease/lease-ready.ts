import type { LeaseRequest } from '@litebus/core'
import { decodeLeased, type DecodedLease } from './decode-leased.ts'
import { callLease, filterArguments, refetchBodies, type LeaseContext } from './lease-context.ts'
import type { ScanState } from './scan-state.ts'

/** Leases rows without ordering key. */
export async function leaseReady(
  context: LeaseContext,
  state: ScanState,
  request: LeaseRequest,
): Promise<DecodedLease> {
  state.turn += 1
  const all = request.limit
  const due = state.turn % 2 === 0 ? all : Math.floor(all / 2)
  const rows = await callLease(context, 'lease_ready', [
    state.ready.start,
    Math.floor(state.due.start),
    due,
    all,
    request.owner,
    request.leaseMs,
    request.maxAttempts,
    ...filterArguments(request),
  ])
  const leased = await decodeLeased(rows, {
    owner: request.owner,
    suspect: false,
    refetch: refetchBodies(context),
  })
  state.learn(leased, { due, all })
  return leased
}
