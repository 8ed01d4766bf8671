import { sleep, type Clock, type SendResult } from '@litebus/core'
import { writeCommitMetadata } from './commit-metadata.ts'
import type { KafkaMembership, OffsetToCommit } from './driver.ts'
import type { CommitPoint, PartitionProgress } from './partition-progress.ts'

/** Commits what the partitions of one assignment have finished, many records by one request. */
export interface Committer {
  /** Commits the present state of a partition soon; answers when the broker has. */
  request(): Promise<SendResult>
  /** The state changed and nobody waits for it. */
  touch(): void
  /** Commits at once what is not committed; resolves when the broker has answered or the assignment is over. */
  flush(): Promise<void>
  /** The assignment is over: nothing more is committed, and what was asked for is answered `unknown`. */
  end(): void
}

/** What a committer works with. */
export interface CommitterOptions {
  /** The member; what it commits is for its present assignment. */
  readonly membership: Pick<KafkaMembership, 'commit'>
  /** Progress by partition. */
  readonly partitions: ReadonlyMap<number, PartitionProgress>
  /** Least time between two commits. */
  readonly intervalMs: number
  /** Requests that do not wait for that time. */
  readonly count: number
  /** Told when a commit failed. */
  readonly onFailure: (error: unknown) => void
  /** Pause after a commit that failed, by the number of failures in a row. */
  readonly pauseMs: (failures: number) => number
  /** Time. */
  readonly clock: Clock
}

interface Snapshot {
  readonly progress: PartitionProgress
  readonly point: CommitPoint
  readonly offset: OffsetToCommit
}

/** Commits nothing yet. */
export function createCommitter(options: CommitterOptions): Committer {
  const { membership, partitions, clock } = options
  let waiting: ((result: SendResult) => void)[] = []
  let hurry = new AbortController()
  let running: Promise<void> | undefined
  let over = false

  const snapshot = (): readonly Snapshot[] =>
    [...partitions]
      .filter(([, progress]) => progress.dirty)
      .map(([partition, progress]) => {
        const point = progress.commitPoint()
        const metadata = writeCommitMetadata(point.retries)
        return { progress, point, offset: { partition, offset: point.offset, metadata } }
      })

  const isOver = (): boolean => over

  const answer = (answered: readonly ((result: SendResult) => void)[], result: SendResult): void => {
    for (const resolve of answered) resolve(result)
  }

  const commitOnce = async (): Promise<boolean> => {
    const taken = waiting
    waiting = []
    const snapshots = snapshot()
    try {
      if (snapshots.length > 0) await membership.commit(snapshots.map(({ offset }) => offset))
    } catch (error) {
      if (isOver()) {
        answer(taken, 'unknown')
        return false
      }
      // The assignment stands, and with it what is finished: it is committed as soon as the broker takes it.
      options.onFailure(error)
      waiting = [...taken, ...waiting]
      return false
    }
    for (const { progress, point } of snapshots) progress.confirmed(point)
    answer(taken, 'settled')
    return true
  }

  const isDirty = (): boolean => [...partitions.values()].some(({ dirty }) => dirty)

  const run = async (): Promise<void> => {
    // Whatever is settled in the same turn of the event loop goes with the first request.
    await Promise.resolve()
    for (let failures = 0; !isOver() && (waiting.length > 0 || isDirty());) {
      hurry = new AbortController()
      failures = (await commitOnce()) ? 0 : failures + 1
      const isFull = failures === 0 && waiting.length >= options.count
      const waitMs = failures === 0 ? options.intervalMs : options.pauseMs(failures)
      if (!isFull) await sleep(clock, waitMs, hurry.signal)
    }
    running = undefined
  }

  const start = (): void => {
    if (!over) running ??= run()
  }

  return {
    request() {
      if (over) return Promise.resolve('unknown')
      return new Promise((resolve) => {
        waiting.push(resolve)
        // An abort makes an error with a stack, which is too much for each record.
        if (waiting.length >= options.count && !hurry.signal.aborted) hurry.abort()
        start()
      })
    },
    touch: start,
    async flush() {
      hurry.abort()
      while (!isOver() && isDirty()) if (!(await commitOnce())) return
    },
    end() {
      over = true
      hurry.abort()
      answer(waiting, 'unknown')
      waiting = []
    },
  }
}
