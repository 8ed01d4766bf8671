import type { DeliveryFacts, ReturnOptions, SendResult } from '@litebus/core'
import type { Committer } from './committer.ts'
import { readDelivery } from './delivery-facts.ts'
import type { FetchedBatch, FetchedRecord } from './driver.ts'
import { createPartitionLine, type PartitionLine } from './partition-line.ts'
import type { PartitionProgress } from './partition-progress.ts'

/** What settles a record: where it is, in the assignment in which it was handed out. */
export interface RecordRef {
  /** The assignment. */
  readonly assignment: Assignment
  /** Partition. */
  readonly partition: number
  /** Offset. */
  readonly offset: bigint
}

/** A record that may be handed out now. */
interface NextRecord {
  /** To settle it with. */
  readonly ref: RecordRef
  /** What it says about itself. */
  readonly facts: DeliveryFacts
}

/** A partition of an assignment. */
interface AssignedPartition {
  /** How far it is handled. */
  readonly progress: PartitionProgress
  /** Its records that are not finished. */
  readonly line: PartitionLine<FetchedRecord>
  /** Offset of the next record to be written, as the last fetch saw it. */
  end: bigint
  /** Fetches in a row that did not start where they should. */
  misses: number
  /** Where the last fetch started, or ended, that was not taken and may be right all the same. */
  beyond: bigint | undefined
}

/** The partitions that a member has from one join of its group to the next. Settlements end with it. */
export interface Assignment {
  /** By number. */
  readonly partitions: ReadonlyMap<number, AssignedPartition>
  /** Commits for it. */
  readonly committer: Committer
  /** Takes what a fetch brought; false when it does not start where the partition goes on, and nothing was taken. */
  take(batch: FetchedBatch): boolean
  /** The record whose turn it is, of the partitions in turn; undefined where none may be handed out. */
  next(nowMs: number): NextRecord | undefined
  /** How long until a record may be handed out that may not now; undefined where no time brings one. */
  waitMs(nowMs: number): number | undefined
  /** A record is done. */
  finish(ref: RecordRef): Promise<SendResult>
  /** A record goes back to its place. */
  putBack(ref: RecordRef, how: ReturnOptions, nowMs: number): Promise<SendResult>
  /** Everything in flight goes back to its place. */
  rewind(): void
}

const settled: Promise<SendResult> = Promise.resolve('settled')

/** Misses after which a gap in the log is believed: each of them has made the client fetch from its beginning again. */
const missesForGap = 3

/**
 * Whether a fetch starts where the partition goes on. If it does not, it is from before a seek or an assignment, or the
 * client has passed over offsets without a record; only the latter comes again. What is skipped by mistake is lost, so
 * the client has to bring it several times. `later`: nothing that could be handed out, wait for what comes.
 */
function fit(
  known: AssignedPartition,
  { askedFor, first, next, records }: FetchedBatch,
): 'yes' | 'no' | 'later' {
  const { position } = known.progress
  const start = askedFor ?? first
  if (start === position) return 'yes'
  const isEmpty = records.length === 0
  if (isEmpty && askedFor === undefined) {
    if (next > position) known.beyond = next
    return 'later'
  }
  const isGap =
    known.misses >= missesForGap && start !== undefined && start > position && start === known.beyond
  if (isGap) return 'yes'
  if (askedFor === undefined) known.beyond = start
  known.misses += 1
  return 'no'
}

/** An assignment with its partitions where they start. */
export function createAssignment(
  source: string,
  progresses: ReadonlyMap<number, PartitionProgress>,
  committer: Committer,
): Assignment {
  const partitions = new Map(
    [...progresses].map(([partition, progress]): [number, AssignedPartition] => [
      partition,
      {
        progress,
        line: createPartitionLine<FetchedRecord>(),
        end: progress.position,
        misses: 0,
        beyond: undefined,
      },
    ]),
  )
  const numbers = [...partitions.keys()]
  let turn = 0

  const nextOf = (partition: number, nowMs: number): NextRecord | undefined => {
    const { line, progress } = partitions.get(partition) ?? {}
    const taken = line?.take(nowMs)
    if (taken === undefined) return undefined
    const { record, handedOut } = taken
    const { offset } = record
    const retry = progress?.retryOf(offset)
    return {
      ref: { assignment, partition, offset },
      facts: readDelivery(record, { source, partition, handedOut, retry }),
    }
  }

  const assignment: Assignment = {
    partitions,
    committer,
    take(batch) {
      const known = partitions.get(batch.partition)
      if (known === undefined) return true
      const { progress, line } = known
      const { next, end, records } = batch
      const fits = fit(known, batch)
      if (fits !== 'yes') return fits === 'later'
      known.misses = 0
      known.beyond = undefined
      known.end = end
      const fresh = records.filter(({ offset }) => offset >= progress.position)
      line.add(fresh)
      progress.fetched(
        fresh.map(({ offset }) => offset),
        next,
      )
      // Offsets without a record may be all that there is to commit.
      if (fresh.length === 0 && progress.dirty) committer.touch()
      return true
    },
    next(nowMs) {
      for (let tried = 0; tried < numbers.length; tried += 1) {
        turn = (turn + 1) % numbers.length
        const found = nextOf(numbers[turn] ?? 0, nowMs)
        if (found !== undefined) return found
      }
      return undefined
    },
    waitMs(nowMs) {
      const waits = [...partitions.values()].flatMap(({ line }) => line.waitMs(nowMs) ?? [])
      return waits.length === 0 ? undefined : Math.min(...waits)
    },
    finish({ partition, offset }) {
      const { line, progress } = partitions.get(partition) ?? {}
      line?.finish(offset)
      // Behind a gap there is nothing to commit yet: it is remembered, and committed with the record that closes it.
      return progress?.finish(offset) === true ? committer.request() : settled
    },
    async putBack({ partition, offset }, { delayMs = 0, attempt, firstFailureAt }, nowMs) {
      const { line, progress } = partitions.get(partition) ?? {}
      line?.putBack(offset, delayMs > 0 ? nowMs + delayMs : 0)
      if (attempt === undefined) return 'settled'
      const firstFailureAtMs = firstFailureAt?.getTime()
      progress?.returned(offset, {
        attempt,
        ...(firstFailureAtMs === undefined ? {} : { firstFailureAtMs }),
      })
      return committer.request()
    },
    rewind() {
      for (const { line } of partitions.values()) line.rewind()
    },
  }
  return assignment
}
