/** What a return of a record carries to its next delivery, also to one after a crash. */
export interface RecordRetry {
  /** Attempts made so far. */
  readonly attempt: number
  /** Time of the first failure, in milliseconds since the epoch. */
  readonly firstFailureAtMs?: number
}

/** What can be committed for a partition. */
export interface CommitPoint {
  /** First offset that is not finished: last finished + 1 where there is no gap. */
  readonly offset: bigint
  /** Retries of records that are not finished, by offset. */
  readonly retries: ReadonlyMap<bigint, RecordRetry>
  /** Counts changes of the retries. */
  readonly version: number
}

/**
 * How far one partition is handled: which offsets were fetched, which of them are finished, and so what may be
 * committed. A committed offset says that everything before it is done, so it never passes a record that is not
 * finished, in whatever order records finish. A state machine without I/O.
 */
export interface PartitionProgress {
  /** Next offset to fetch. */
  readonly position: bigint
  /** First offset that is not finished. */
  readonly committable: bigint
  /** Last offset that the broker confirmed as committed; undefined while it has none. */
  readonly committed: bigint | undefined
  /** True when a commit would tell the broker something new. */
  readonly dirty: boolean
  /**
   * Records were fetched, in ascending order; `next` is where the next fetch starts. Offsets between them that hold no
   * record (compacted, control records, aborted transactions) count as finished.
   */
  fetched(offsets: readonly bigint[], next: bigint): void
  /** A record is done. True when everything before it is done as well, so that the next commit includes it. */
  finish(offset: bigint): boolean
  /** A record goes back; what it carries travels in the metadata of the next commit. */
  returned(offset: bigint, retry: RecordRetry | undefined): void
  /** What a record carries from its last return. */
  retryOf(offset: bigint): RecordRetry | undefined
  /** What to commit now. */
  commitPoint(): CommitPoint
  /** The broker confirmed a commit of this point. */
  confirmed(point: CommitPoint): void
}

/** Where a partition starts. */
export interface ProgressStart {
  /** First offset to fetch. */
  readonly offset: bigint
  /** False when the broker has no committed offset for it yet. */
  readonly isCommitted: boolean
  /** Retries that the metadata of the committed offset carries. */
  readonly retries?: ReadonlyMap<bigint, RecordRetry>
}

/** So many offsets may be passed before the list of those that are open closes up. */
const mostPassed = 1024

/** Progress of a partition from its start. */
export function createPartitionProgress(start: ProgressStart): PartitionProgress {
  /** Offsets of records that were fetched and not known to be part of the finished beginning, ascending. */
  let open: bigint[] = []
  /** Where in `open` the first record that is not finished stands. */
  let head = 0
  const finished = new Set<bigint>()
  const retries = new Map<bigint, RecordRetry>(start.retries)
  let position = start.offset
  let committed = start.isCommitted ? start.offset : undefined
  let version = 0
  let confirmedVersion = 0

  const committable = (): bigint => open[head] ?? position

  const pass = (offset: bigint): void => {
    head += 1
    if (retries.delete(offset)) version += 1
  }
  const advance = (): void => {
    for (let next = open[head]; next !== undefined && finished.delete(next); next = open[head]) pass(next)
    if (head <= mostPassed) return
    open = open.slice(head)
    head = 0
  }

  return {
    get position() {
      return position
    },
    get committable() {
      return committable()
    },
    get committed() {
      return committed
    },
    get dirty() {
      return committed !== committable() || confirmedVersion !== version
    },
    fetched(offsets, next) {
      for (const offset of offsets) if (offset >= position) open.push(offset)
      if (next > position) position = next
    },
    finish(offset) {
      const first = committable()
      if (offset < first || offset >= position) return offset < first
      if (offset > first) {
        finished.add(offset)
        return false
      }
      // Most records finish in order, and need not be remembered.
      pass(offset)
      advance()
      return true
    },
    returned(offset, retry) {
      if (retry === undefined || offset < committable()) return
      retries.set(offset, retry)
      version += 1
    },
    retryOf: (offset) => retries.get(offset),
    commitPoint: () => ({ offset: committable(), retries: new Map(retries), version }),
    confirmed(point) {
      committed = point.offset
      confirmedVersion = point.version
    },
  }
}
