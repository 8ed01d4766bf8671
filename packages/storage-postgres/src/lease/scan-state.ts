import type { LeaseRequest } from '@litebus/core'
import type { DecodedLease } from './decode-leased.ts'
import { LaneWalk } from './lane-walk.ts'
import { SafeMark, ScanPositions } from './positions.ts'

/** A due time may be computed a little before its transaction has its id. */
const dueMarginMicros = 1_000_000

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
  learn(leased: DecodedLease, limits: { readonly due: number; readonly all: number }): void {
    const { header, envelopes, dueCount, dueMax, readyMax } = leased
    const xmin = Number(header.xmin)
    const xmax = Number(header.xmax)
    // A scan that came to the end has seen everything up to the last sequence that was taken before it began.
    const value = envelopes.length < limits.all ? Math.max(readyMax, header.sequence ?? 0) : readyMax
    this.ready.advance({ value, xmax }, xmin, envelopes.length - dueCount)
    const dueEnd = dueCount < limits.due ? (header.now ?? 0) - dueMarginMicros : dueMax
    this.due.advance({ value: Math.min(dueEnd, header.suspect ?? Infinity), xmax }, xmin, dueCount)
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
