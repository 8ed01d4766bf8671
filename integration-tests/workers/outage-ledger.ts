export interface LogLine {
  readonly atMs: number
  readonly processor: string
  readonly message: string
}

/** What the load has seen. */
export interface OutageReport {
  /** Messages whose write was confirmed. */
  readonly accepted: readonly string[]
  /** Writes that failed, or whose outcome is unknown. */
  readonly refused: number
  /** Messages that were handled at least once. */
  readonly handled: readonly string[]
  readonly runs: number
  /** Messages of a key that came before one whose write was confirmed before theirs began. */
  readonly overtaken: number
  readonly unhandled: readonly string[]
  readonly lines: readonly LogLine[]
}

/** The same with whether the store could be used when it was asked for. */
export interface OutageAnswer extends OutageReport {
  readonly isHealthy: boolean
}

interface Written {
  readonly key: string | undefined
  readonly number: number
  accepted: boolean
  /** How many of its key had been begun when it was confirmed. */
  begunAtConfirm: number
}

/** Keeps what the load has seen. */
export class OutageLedger {
  readonly unhandled: string[] = []
  readonly lines: LogLine[] = []
  refused = 0
  readonly #written = new Map<string, Written>()
  readonly #begun = new Map<string | undefined, number>()
  readonly #waiting = new Map<string, Map<string, Written>>()
  readonly #runs = new Map<string, number>()
  #overtaken = 0

  started(id: string, key: string | undefined): void {
    const number = (this.#begun.get(key) ?? 0) + 1
    this.#begun.set(key, number)
    this.#written.set(id, { key, number, accepted: false, begunAtConfirm: Infinity })
  }

  accepted(id: string): void {
    const written = this.#written.get(id)
    if (written === undefined) return
    written.accepted = true
    written.begunAtConfirm = this.#begun.get(written.key) ?? 0
    if (written.key === undefined || this.#runs.has(id)) return
    const waiting = this.#waiting.get(written.key) ?? new Map<string, Written>()
    this.#waiting.set(written.key, waiting.set(id, written))
  }

  handled(id: string): void {
    const runs = this.#runs.get(id) ?? 0
    this.#runs.set(id, runs + 1)
    const written = this.#written.get(id)
    if (runs > 0 || written?.key === undefined) return
    const waiting = this.#waiting.get(written.key)
    waiting?.delete(id)
    for (const other of waiting?.values() ?? [])
      if (other.begunAtConfirm < written.number) this.#overtaken += 1
  }

  report(): OutageReport {
    return {
      accepted: [...this.#written].flatMap(([id, { accepted }]) => (accepted ? [id] : [])),
      refused: this.refused,
      handled: [...this.#runs.keys()],
      runs: [...this.#runs.values()].reduce((sum, count) => sum + count, 0),
      overtaken: this.#overtaken,
      unhandled: this.unhandled,
      lines: this.lines,
    }
  }
}
