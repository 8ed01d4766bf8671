/** A value that holds after a look that begins when every transaction before `xid` has ended. */
export interface Mark {
  readonly value: number
  readonly xid: number
}

/** What a scan was started with; it is handed back with what the scan brought. */
export interface ScanTicket {
  /** Where the scan starts. */
  readonly start: number
  /** How far an earlier scan came, if that is not marked yet. */
  readonly candidate: number | undefined
}

/** What a scan brought. */
export interface ScanReport {
  /** How far it came. */
  readonly value: number
  /** Rows that it leased. */
  readonly leased: number
  /** Transaction of the scan, if it had one: everybody who had begun to write before the scan has a smaller id. */
  readonly xid: number | undefined
  /** Every transaction before this one had ended when the scan began. */
  readonly xmin: number
}

interface Position extends Mark {
  /** Rows leased in all when this position was taken. */
  readonly leased: number
}

/** Rows that a scan walks again for the sake of late commits; older ones are left to the sweep. */
const lookback = 20_000

/**
 * Where a scan starts, so that dead entries below are not walked again. A transaction that commits late puts rows
 * below what scans have passed while it ran. Whoever could do that had its id before the next scan got one, because
 * ids are taken before sequences; so what a scan came to is kept as a position with the id of the next scan. Once
 * everybody before that id has ended, one more scan from below finds what they left, and later ones start there.
 * (The upper end of a snapshot would not do as that id: it is the last transaction that ended, and younger ones may
 * be running.) Where one transaction stays open for long, scans start a bounded number of rows back, and the sweep
 * finds the rest.
 */
export class ScanPositions {
  readonly #positions: Position[] = [{ value: 0, xid: 0, leased: 0 }]
  #candidate: number | undefined
  #leased = 0
  #xmin = 0

  /** Where the next scan starts. */
  get start(): number {
    const safe = this.#positions[0]?.value ?? 0
    if ((this.#positions[1]?.xid ?? Infinity) <= this.#xmin) return safe
    const near = this.#positions.find((position) => this.#leased - position.leased <= lookback)
    return (near ?? this.#positions.at(-1))?.value ?? safe
  }

  /** How far scans have come. */
  get reached(): number {
    return Math.max(this.#candidate ?? 0, this.#positions.at(-1)?.value ?? 0)
  }

  /** Starts a scan. */
  begin(): ScanTicket {
    return { start: this.start, candidate: this.#candidate }
  }

  /** Learns what a scan brought. */
  end(ticket: ScanTicket, report: ScanReport): void {
    const { value, leased, xid, xmin } = report
    const isFromBelow = ticket.start <= (this.#positions[0]?.value ?? 0)
    while (isFromBelow) {
      const next = this.#positions[1]
      if (next === undefined || next.xid > xmin || next.value > value) break
      this.#positions.shift()
    }
    const last = this.#positions.at(-1)?.value ?? 0
    if (xid !== undefined && ticket.candidate !== undefined && ticket.candidate > last) {
      this.#positions.push({ value: ticket.candidate, xid, leased: this.#leased })
    }
    this.#leased += leased
    this.#candidate = Math.max(this.#candidate ?? 0, value)
    this.#xmin = Math.max(this.#xmin, xmin)
    if (this.#positions.length > 256) this.#thin()
  }

  /** Keeps every second position, the first and the last. */
  #thin(): void {
    const end = this.#positions.length - 1
    const kept = this.#positions.filter((_, index) => index % 2 === 0 || index === end)
    this.#positions.splice(0, this.#positions.length, ...kept)
  }
}

/**
 * The lowest value that may live, by looks from below. What a look found holds once everybody who was writing then
 * has ended and one more look has seen what they left.
 */
export class SafeMark {
  #safe: number
  #pending: Mark | undefined

  /** `initial` holds from the start. */
  constructor(initial: number) {
    this.#safe = initial
  }

  /** Where the next look starts. */
  get value(): number {
    return this.#safe
  }

  /** Learns what a look from {@link SafeMark.value} found, and before whom everybody had ended when it began. */
  advance(mark: Mark, xmin: number): void {
    if (this.#pending !== undefined && this.#pending.xid <= xmin) {
      this.#safe = Math.min(this.#pending.value, mark.value)
      this.#pending = undefined
    }
    this.#pending ??= mark
  }
}
