import type { LeaseRequest } from '@litebus/core'
import type { DecodedLease } from './decode-leased.ts'
import { callLease, filterArguments, type LeaseContext } from './lease-context.ts'
import type { ScanState } from './scan-state.ts'

/** Rows that idle scans may walk again before one of them costs a transaction id. */
const idleLead = 1000

/** Whether a lease also tells if there are rows with ordering key: never, when it leaves room, or in any case. */
export type LaneLook = 'never' | 'withRoom' | 'always'

/** Leases rows without ordering key. */
export async function leaseReady(
  context: LeaseContext,
  state: ScanState,
  request: LeaseRequest & { readonly lanes: LaneLook },
): Promise<DecodedLease> {
  state.turn += 1
  const { limit } = request
  const tickets = {
    ready: state.ready.begin(),
    due: state.due.begin(),
    limit,
    dueLimit: state.turn % 2 === 0 ? limit : Math.floor(limit / 2),
  }
  // A scan that leases has a transaction id; one that only watches others takes one when there is much to skip.
  const marks = (tickets.ready.candidate ?? 0) - tickets.ready.start > idleLead
  const values = [
    tickets.ready.start,
    Math.floor(tickets.due.start),
    tickets.dueLimit,
    limit,
    request.owner,
    request.leaseMs,
    request.maxAttempts,
    marks,
    request.lanes !== 'never',
    request.lanes === 'always',
    ...filterArguments(request),
  ]
  const { owner } = request
  const leased = await callLease(context, { name: 'lease_ready', values, owner, suspect: false })
  state.learn(tickets, leased)
  return leased
}
