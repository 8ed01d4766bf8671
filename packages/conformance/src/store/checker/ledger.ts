/** What the checker knows of one message. */
export interface Entry {
  readonly id: string
  readonly key: string
  /** Tick before the write began. */
  readonly startedAt: number
  /** Tick after the commit; infinite while it is open. */
  committedAt: number
  state: 'open' | 'committed' | 'rolledBack' | 'done'
}

/** A run of one key in one worker. */
export interface Run {
  readonly worker: string
  readonly key: string
  /** Real time after which others may have the key. */
  readonly expiresAtMs: number
}

/** Watches every event and collects what must never be. */
export class Ledger {
  readonly faults: string[] = []
  readonly entries: Map<string, Entry> = new Map<string, Entry>()
  /** Handler runs. */
  handled = 0
  /** Handler runs of messages that had been handled before. */
  duplicates = 0
  readonly #byKey = new Map<string, Set<Entry>>()
  readonly #runs = new Map<string, Set<Run>>()
  readonly #leasedUntil = new Map<string, number>()
  #tick = 0

  /** A producer begins to write a message. */
  started(id: string, key: string): Entry {
    const entry: Entry = { id, key, startedAt: ++this.#tick, committedAt: Infinity, state: 'open' }
    this.entries.set(id, entry)
    const entries = this.#byKey.get(key)
    if (entries === undefined) this.#byKey.set(key, new Set([entry]))
    else entries.add(entry)
    return entry
  }

  /** Its transaction has ended. */
  ended(entries: readonly Entry[], committed: boolean): void {
    const tick = ++this.#tick
    for (const entry of entries) {
      if (committed) entry.committedAt = tick
      // A message can be handled before its producer hears of the commit.
      if (entry.state === 'open') entry.state = committed ? 'committed' : 'rolledBack'
      if (!committed) this.#byKey.get(entry.key)?.delete(entry)
    }
  }

  /** A worker begins a run. */
  runStarted(run: Run, nowMs: number): void {
    const runs = this.#runs.get(run.key) ?? new Set<Run>()
    this.#runs.set(run.key, runs)
    for (const other of runs) {
      if (other.expiresAtMs <= nowMs) runs.delete(other)
      else this.#fault(`key ${run.key}: ${run.worker} has a run while ${other.worker} has one`)
    }
    runs.add(run)
  }

  /** A worker ends a run: nothing of it is in flight. */
  runEnded(run: Run): void {
    this.#runs.get(run.key)?.delete(run)
  }

  /** A worker handles a message; it may come again once its lease has expired. */
  handling(id: string, { expiresAtMs }: Run, nowMs: number): void {
    this.handled += 1
    const leasedUntil = this.#leasedUntil.get(id) ?? Infinity
    this.#leasedUntil.set(id, expiresAtMs)
    const entry = this.entries.get(id)
    if (entry === undefined) {
      this.#fault(`message ${id} was never written`)
      return
    }
    if (entry.state === 'rolledBack') this.#fault(`message ${id} was rolled back and came all the same`)
    if (entry.state === 'done') {
      this.duplicates += 1
      if (nowMs < leasedUntil) this.#fault(`message ${id} came again though its lease had not expired`)
      return
    }
    for (const earlier of this.#byKey.get(entry.key) ?? []) {
      if (earlier !== entry && earlier.committedAt < entry.startedAt) {
        this.#fault(
          `key ${entry.key}: ${id} came before ${earlier.id}, which was committed before it was begun`,
        )
        return
      }
    }
  }

  /** It has been handled. */
  done(id: string): void {
    const entry = this.entries.get(id)
    if (entry === undefined) return
    entry.state = 'done'
    this.#byKey.get(entry.key)?.delete(entry)
  }

  /** A worker gave it back for another attempt: it may come at once, also where it had been handled before. */
  retried(id: string): void {
    this.#leasedUntil.set(id, Number.NEGATIVE_INFINITY)
  }

  /** Messages that must still come. */
  get outstanding(): number {
    let count = 0
    for (const entry of this.entries.values()) if (entry.state === 'committed') count += 1
    return count
  }

  #fault(text: string): void {
    if (this.faults.length < 10) this.faults.push(text)
  }
}
