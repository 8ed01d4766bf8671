/** What has a place in a log. */
interface OffsetRecord {
  readonly offset: bigint
}

/** A record that waits for its turn. */
interface LinedRecord<R> {
  /** The record. */
  readonly record: R
  /** How often it was handed out. */
  readonly handedOut: number
}

/**
 * The records of one partition that were fetched and are not finished: a line in the order of the log, and those in
 * flight. A record that goes back takes its place in the line again, and nothing of the partition is handed out before
 * it. Without I/O; times are monotonic milliseconds.
 */
export interface PartitionLine<R extends OffsetRecord> {
  /** Records in the line. */
  readonly waiting: number
  /** Records handed out and not ended. */
  readonly inFlight: number
  /** Records were fetched, in ascending order, all behind those that are here. */
  add(records: readonly R[]): void
  /** Takes the record whose turn it is at a time; undefined where none may be handed out. */
  take(nowMs: number): LinedRecord<R> | undefined
  /** How long until the first one may be handed out; undefined where no time brings it. */
  waitMs(nowMs: number): number | undefined
  /** A record in flight is done. */
  finish(offset: bigint): void
  /**
   * A record in flight goes back to its place, not to be handed out before a time. Until everything else in flight has
   * ended nothing is handed out: it may have to go back as well, and would then be overtaken.
   */
  putBack(offset: bigint, notBeforeMs: number): void
  /** Everything in flight goes back to its place at once. */
  rewind(): void
}

interface Entry<R> {
  readonly record: R
  handedOut: number
  notBeforeMs: number
}

/** So many places at the front may be empty before the line closes up. */
const mostEmpty = 1024

/** An empty line. */
export function createPartitionLine<R extends OffsetRecord>(): PartitionLine<R> {
  let line: Entry<R>[] = []
  /** Where in `line` the first one stands. */
  let head = 0
  const inFlight = new Map<bigint, Entry<R>>()
  let draining = false

  const closeUp = (): void => {
    line = line.slice(head)
    head = 0
  }
  const insert = (entry: Entry<R>): void => {
    closeUp()
    const behind = line.findIndex(({ record }) => record.offset > entry.record.offset)
    if (behind === -1) line.push(entry)
    else line.splice(behind, 0, entry)
  }
  const ended = (): void => {
    if (inFlight.size === 0) draining = false
  }

  return {
    get waiting() {
      return line.length - head
    },
    get inFlight() {
      return inFlight.size
    },
    add(records) {
      for (const record of records) line.push({ record, handedOut: 0, notBeforeMs: 0 })
    },
    take(nowMs) {
      const first = line[head]
      if (draining || first === undefined || first.notBeforeMs > nowMs) return undefined
      head += 1
      if (head === line.length || head > mostEmpty) closeUp()
      first.handedOut += 1
      inFlight.set(first.record.offset, first)
      return first
    },
    waitMs(nowMs) {
      const first = line[head]
      return draining || first === undefined ? undefined : Math.max(0, first.notBeforeMs - nowMs)
    },
    finish(offset) {
      inFlight.delete(offset)
      ended()
    },
    putBack(offset, notBeforeMs) {
      const entry = inFlight.get(offset)
      if (entry === undefined) return
      inFlight.delete(offset)
      entry.notBeforeMs = notBeforeMs
      insert(entry)
      draining = true
      ended()
    },
    rewind() {
      for (const entry of [...inFlight.values()]) {
        entry.notBeforeMs = 0
        insert(entry)
      }
      inFlight.clear()
      draining = false
    },
  }
}
