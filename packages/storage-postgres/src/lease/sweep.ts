import type { LeaseRequest } from '@litebus/core'
import { filterArguments, type LeaseContext } from './lease-context.ts'
import type { ScanState } from './scan-state.ts'

/** Share of the time that sweeps may take. */
const maxShare = 0.05

interface SweepHeader {
  readonly low: number
  readonly dueLow: number
  readonly xmin: string
  readonly xid: string
}

/**
 * Looks below the positions when it is time to: a tenth of the lease, at most every two seconds, so that recovery
 * comes soon after expiry; less often where the sweep itself takes long.
 */
export async function sweepWhenDue(
  context: LeaseContext,
  state: ScanState,
  request: LeaseRequest,
): Promise<void> {
  const startedMs = context.monotonic()
  if (startedMs < state.nextSweepMs) return
  const intervalMs = Math.min(Math.max(request.leaseMs / 10, 50), 2000)
  state.nextSweepMs = startedMs + intervalMs
  const [row] = await context.database.run(
    'recover expired leases',
    `select ${context.axis.fn('sweep')}($1, $2, $3, $4, $5, $6, $7)`,
    [
      state.low.value,
      state.ready.start,
      state.ready.reached,
      Math.floor(state.dueLow.value),
      Math.floor(state.due.start),
      ...filterArguments(request),
    ],
  )
  const header = JSON.parse(row?.[0] ?? '{}') as SweepHeader
  const xid = Number(header.xid)
  state.low.advance({ value: header.low, xid }, Number(header.xmin))
  state.dueLow.advance({ value: header.dueLow, xid }, Number(header.xmin))
  const tookMs = context.monotonic() - startedMs
  state.nextSweepMs = Math.max(state.nextSweepMs, startedMs + tookMs / maxShare)
}
