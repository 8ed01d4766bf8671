/** Lanes that are remembered as busy; more are forgotten, the oldest first. */
const rememberedLanes = 10_000
/** Lanes that one lease is asked to mark. */
const mostAsked = 200

/** Where the walk over lanes is, and what it has learned about them. */
export class LaneWalk {
  /** The walk goes on after this lane. */
  cursor = ''
  /** Lanes whose head was a suspect, for the next exclusive lease. */
  suspects: readonly string[] = []
  #rowsPerLane = 4
  /** Lanes that were leased lately; those at the end were leased last. */
  readonly #leased = new Set<string>()
  /** Lanes without a row of their own, in the order of their first leases, in which the walk comes back to them. */
  readonly #toMark = new Set<string>()

  /** How many lanes to look at for that many rows. */
  lanesFor(limit: number, round: number): number {
    const needed = Math.ceil((limit / this.#rowsPerLane) * 1.1) * 2 ** round
    return Math.min(Math.max(needed, 4), 1000)
  }

  /**
   * Lanes that should get a row of their own, with a position past their dead entries, if they are leased now: with
   * their second lease. The walk steps over such a row for an hour, so lanes that come once get none.
   */
  get toMark(): readonly string[] {
    return [...this.#toMark].slice(0, mostAsked)
  }

  /** True when lanes were leased lately: the end of a run may open one. */
  get isActive(): boolean {
    return this.#leased.size > 0
  }

  /** Learns which lanes were leased, with their rows, and which of them the lease was asked to mark. */
  learn(rowsByLane: ReadonlyMap<string, number>, asked: readonly string[]): void {
    if (rowsByLane.size === 0) return
    const wasAsked = new Set(asked)
    let rows = 0
    for (const [lane, count] of rowsByLane) {
      rows += count
      // Once it is leased again its place is at the end.
      if (!this.#leased.delete(lane)) this.#toMark.add(lane)
      else if (wasAsked.has(lane)) this.#toMark.delete(lane)
      this.#leased.add(lane)
    }
    this.#rowsPerLane = this.#rowsPerLane * 0.7 + (rows / rowsByLane.size) * 0.3
    for (const lane of this.#leased) {
      if (this.#leased.size <= rememberedLanes) break
      this.#leased.delete(lane)
      this.#toMark.delete(lane)
    }
  }
}
