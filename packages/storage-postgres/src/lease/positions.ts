/** A value that holds once every transaction before `xid` has ended. */
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
  /** Every transaction before this one has ended. */
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
 * below positions that were taken while it ran. Whoever could do that to a position had its id before the next scan
 * got one, because ids are taken before sequences; so a position is kept with the id of the next scan, and used
 * once everybody before that has ended. (The upper end of a snapshot would not do: it is the last transaction that
 * ended, and younger ones may be running.) Where one transaction stays open for long, a scan starts a bounded
 * number of rows back, and the sweep finds the rest.
 */
export class ScanPositions {
  readonly #positions: Position[] = [{ value: 0, xid: 0, leased: 0 }]
  #candidate: number | undefined
  #leased = 0

  /** Where the next scan starts. */
  get start(): number {
    const near = this.#positions.find((position) => this.#leased - position.leased <= lookback)
    return (near ?? this.#positions.at(-1))?.value ?? 0
  }

  /** Starts a scan. */
  begin(): ScanTicket {
    return { start: this.start, candidate: this.#candidate }
  }

  /** Learns what a scan brought. */
  end(ticket: ScanTicket, report: ScanReport): void {
    this.#leased += report.leased
    const last = this.#positions.at(-1)?.value ?? 0
    if (report.xid !== undefined && ticket.candidate !== undefined && ticket.candidate > last) {
      this.#positions.push({ value: ticket.candidate, xid: report.xid, leased: this.#leased - report.leased })
    }
    this.#candidate = Math.max(this.#candidate ?? 0, report.value)
    while ((this.#positions[1]?.xid ?? Infinity) <= report.xmin) this.#positions.shift()
    if (this.#positions.length > 256) this.#thin()
  }

  /** Keeps every second position, the first and the last. */
  #thin(): void {
    const end = this.#positions.length - 1
    const kept = this.#positions.filter((_, index) => index % 2 === 0 || index === end)
    this.#positions.splice(0, this.#positions.length, ...kept)
  }
}

/** A value that may be used once everybody who could contradict it has ended. */
export class SafeMark {
  #safe: number
  #pending: Mark | undefined

  /** `initial` holds from the start. */
  constructor(initial: number) {
    this.#safe = initial
  }

  /** What holds now. */
  get value(): number {
    return this.#safe
  }

  /** Learns a new value, and which transactions have ended. */
  advance(mark: Mark, xmin: number): void {
    if (this.#pending !== undefined && this.#pending.xid <= xmin) {
      this.#safe = this.#pending.value
      this.#pending = undefined
    }
    this.#pending ??= mark
  }
}
