/** Lanes that are remembered as busy; more are forgotten, the oldest first. */
const rememberedLanes = 10_000
/** Leases after which a lane gets a row of its own, with a position past its dead entries: with the next one. */
const leasesUntilMarked = 1

/** Where the walk over lanes is, and what it has learned about them. */
export class LaneWalk {
  /** The walk goes on after this lane. */
  cursor = ''
  /** Lanes whose head was a suspect, for the next exclusive lease. */
  suspects: readonly string[] = []
  #rowsPerLane = 4
  readonly #leases = new Map<string, number>()
  readonly #toMark = new Set<string>()

  /** How many lanes to look at for that many rows. */
  lanesFor(limit: number, round: number): number {
    const needed = Math.ceil((limit / this.#rowsPerLane) * 1.1) * 2 ** round
    return Math.min(Math.max(needed, 4), 1000)
  }

  /** Lanes that should get a row now. */
  get toMark(): readonly string[] {
    return [...this.#toMark].slice(0, 200)
  }

  /** True when lanes were leased lately: the end of a run may open one. */
  get isActive(): boolean {
    return this.#leases.size > 0
  }

  /** Learns which lanes were leased, with their rows. */
  learn(rowsByLane: ReadonlyMap<string, number>): void {
    if (rowsByLane.size === 0) return
    let rows = 0
    for (const [lane, count] of rowsByLane) {
      rows += count
      const leases = (this.#leases.get(lane) ?? 0) + 1
      this.#leases.delete(lane)
      this.#leases.set(lane, leases)
      if (leases === leasesUntilMarked) this.#toMark.add(lane)
      else this.#toMark.delete(lane)
    }
    this.#rowsPerLane = this.#rowsPerLane * 0.7 + (rows / rowsByLane.size) * 0.3
    for (const lane of this.#leases.keys()) {
      if (this.#leases.size <= rememberedLanes) break
      this.#leases.delete(lane)
    }
  }
}
