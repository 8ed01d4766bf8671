/** Lanes that are remembered as busy; more are forgotten, the oldest first. */
const rememberedLanes = 10_000
/** Lanes that one lease is asked to mark. */
const mostAsked = 200

/** The row of a lane that was not leased from for this long, in milliseconds, is forgotten once the lane is empty. */
export const idleLaneMs = 3_600_000

/** Where the walk over lanes is, and what it has learned about them. */
export class LaneWalk {
  /** The walk goes on after this lane. */
  cursor = ''
  /** Lanes whose head was a suspect, for the next exclusive lease. */
  suspects: readonly string[] = []
  #rowsPerLane = 4
  /** Lanes that were leased lately, with the time; those at the end were leased last. */
  readonly #leased = new Map<string, number>()
  /**
   * Lanes without a row of their own, in the order of their first leases, in which the walk comes back to them, with the
   * walk since which each of them is asked for.
   */
  readonly #toMark = new Map<string, number | undefined>()
  #walks = 0
  #metAny = false

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
    return [...this.#toMark.keys()].slice(0, mostAsked)
  }

  /** True when lanes were leased lately: the end of a run may open one. */
  get isActive(): boolean {
    return this.#leased.size > 0
  }

  /** The walk has come around. */
  cameAround(): void {
    this.cursor = ''
    if (this.#metAny) this.#walks += 1
    this.#metAny = false
  }

  /** Learns which lanes were leased, with their rows, and which of them the lease was asked to mark. */
  learn(
    rowsByLane: ReadonlyMap<string, number>,
    { asked, nowMs }: { readonly asked: readonly string[]; readonly nowMs: number },
  ): void {
    if (rowsByLane.size === 0) return
    this.#metAny = true
    const wasAsked = new Set(asked)
    let rows = 0
    for (const [lane, count] of rowsByLane) {
      rows += count
      const leasedAt = this.#leased.get(lane)
      if (leasedAt === undefined || nowMs - leasedAt >= idleLaneMs) this.#toMark.set(lane, undefined)
      else if (wasAsked.has(lane)) this.#toMark.delete(lane)
      // Its place is at the end.
      this.#leased.delete(lane)
      this.#leased.set(lane, nowMs)
    }
    this.#rowsPerLane = this.#rowsPerLane * 0.7 + (rows / rowsByLane.size) * 0.3
    for (const lane of asked) this.#wasAskedFor(lane)
    for (const lane of this.#leased.keys()) {
      if (this.#leased.size <= rememberedLanes) break
      this.#leased.delete(lane)
      this.#toMark.delete(lane)
    }
  }

  /** What a whole walk did not meet goes behind the others: it may never come again. */
  #wasAskedFor(lane: string): void {
    if (!this.#toMark.has(lane)) return
    const since = this.#toMark.get(lane)
    if (since === undefined) this.#toMark.set(lane, this.#walks)
    else if (this.#walks > since + 1) {
      this.#toMark.delete(lane)
      this.#toMark.set(lane, undefined)
    }
  }
}
