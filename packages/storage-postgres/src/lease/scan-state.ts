import type { LeaseRequest } from '@litebus/core'
import type { DecodedLease } from './decode-leased.ts'
import { LaneWalk } from './lane-walk.ts'
import { SafeMark, ScanPositions, type ScanTicket } from './positions.ts'

/** What one lease of ready rows was started with. */
export interface ScanTickets {
  readonly ready: ScanTicket
  readonly due: ScanTicket
  readonly limit: number
  readonly dueLimit: number
}

/** How far the scans of one filter have come. Processors with other filters pass over other rows. */
export class ScanState {
  readonly ready: ScanPositions = new ScanPositions()
  readonly due: ScanPositions = new ScanPositions()
  /** No row without due time lives at or below. */
  readonly low: SafeMark = new SafeMark(0)
  /** No row with due time lives below. */
  readonly dueLow: SafeMark = new SafeMark(0)
  /** Where the walk over ordering keys is. */
  readonly walk: LaneWalk = new LaneWalk()
  nextSweepMs = 0
  /** Every second scan gives due rows only half of the limit, so that retries cannot starve what is new. */
  turn = 0

  /** Learns from a lease of ready rows. */
  learn(tickets: ScanTickets, leased: DecodedLease): void {
    const { header, envelopes, dueCount, dueMax, readyMax } = leased
    const xid = header.xid == null ? undefined : Number(header.xid)
    const ends = { xid, xmin: Number(header.xmin) }
    // A scan that came to the end has seen everything up to the last sequence that was taken before it began.
    const value = envelopes.length < tickets.limit ? Math.max(readyMax, header.sequence ?? 0) : readyMax
    this.ready.end(tickets.ready, { ...ends, value, leased: envelopes.length - dueCount })
    // Due times are taken after the transaction has its id, so what a scan did not see has a smaller one than the next.
    const dueEnd = dueCount < tickets.dueLimit ? (header.now ?? 0) : dueMax
    const dueValue = Math.min(dueEnd, header.suspect ?? Infinity)
    this.due.end(tickets.due, { ...ends, value: dueValue, leased: dueCount })
  }
}

/** The scan states of a store, one a filter. */
export class ScanStates {
  readonly #states = new Map<string, ScanState>()

  /** The state for the filter of a request. */
  of({ tenants, contracts }: LeaseRequest): ScanState {
    const key = tenants === undefined && contracts === undefined ? '' : JSON.stringify([tenants, contracts])
    const known = this.#states.get(key)
    if (known !== undefined) return known
    // Filters come from configuration, so there are few; whoever builds them at random starts over.
    if (this.#states.size >= 64) this.#states.clear()
    const state = new ScanState()
    this.#states.set(key, state)
    return state
  }
}
