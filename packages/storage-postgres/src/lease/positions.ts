/** A value that holds for everything that was committed before the transactions at `xmax`. */
export interface Mark {
  readonly value: number
  readonly xmax: number
}

interface Position extends Mark {
  /** Rows leased in all before this position was taken. */
  readonly leased: number
}

/** Rows that a scan walks again for the sake of late commits; older ones are left to the sweep. */
const lookback = 20_000

/**
 * Where the scan over ready rows starts, so that dead entries below are not walked again. A transaction that commits
 * late puts rows below positions that were taken while it ran. So each position is kept with the transaction that
 * was next when it was taken, and the scan starts at the newest position before which everybody has ended. Where
 * one transaction stays open for long, it starts a bounded number of rows back, and the sweep finds the rest.
 */
export class ScanPositions {
  readonly #positions: Position[] = [{ value: 0, xmax: 0, leased: 0 }]
  #leased = 0

  /** Where the next scan starts. */
  get start(): number {
    const near = this.#positions.find((position) => this.#leased - position.leased <= lookback)
    return (near ?? this.#positions[0])?.value ?? 0
  }

  /** The scan came to `value`; every transaction before `xmin` has ended. */
  advance(mark: Mark, xmin: number, leased: number): void {
    this.#leased += leased
    const last = this.#positions.at(-1)
    if (last !== undefined && mark.value > last.value) {
      this.#positions.push({ ...mark, leased: this.#leased })
    }
    while (this.#positions.length > 1 && (this.#positions[1]?.xmax ?? Infinity) <= xmin)
      this.#positions.shift()
    if (this.#positions.length > 256) this.#thin()
  }

  /** Keeps every second position; the first is the safe one. */
  #thin(): void {
    const kept = this.#positions.filter((_, index) => index % 2 === 0 || index === this.#positions.length - 1)
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
    if (this.#pending !== undefined && this.#pending.xmax <= xmin) {
      this.#safe = this.#pending.value
      this.#pending = undefined
    }
    this.#pending ??= mark
  }
}
