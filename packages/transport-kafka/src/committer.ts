import type { Clock, SendResult } from '@litebus/core'
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

/** Those who wait for the same commit. */
interface Waiting {
  readonly answer: Promise<SendResult>
  readonly resolve: (result: SendResult | Promise<SendResult>) => void
  count: number
}

/** Commits nothing yet. */
export function createCommitter(options: CommitterOptions): Committer {
  const { membership, partitions, clock } = options
  let waiting: Waiting | undefined
  let running: Promise<void> | undefined
  let over = false
  /** `isShort`: the next rest is left out. `goOn` ends the one that is taken. */
  const pause: { isShort: boolean; goOn?: (() => void) | undefined } = { isShort: false }

  const snapshot = (): readonly Snapshot[] =>
    [...partitions]
      .filter(([, progress]) => progress.dirty)
      .map(([partition, progress]) => {
        const point = progress.commitPoint()
        const metadata = writeCommitMetadata(point.retries)
        return { progress, point, offset: { partition, offset: point.offset, metadata } }
      })

  const isOver = (): boolean => over

  /** They wait on, with those who have come since. */
  const waitOn = (those: Waiting): void => {
    if (waiting === undefined) {
      waiting = those
      return
    }
    waiting.count += those.count
    those.resolve(waiting.answer)
  }

  const commitOnce = async (): Promise<boolean> => {
    const taken = waiting
    waiting = undefined
    const snapshots = snapshot()
    try {
      if (snapshots.length > 0) await membership.commit(snapshots.map(({ offset }) => offset))
    } catch (error) {
      if (isOver()) {
        taken?.resolve('unknown')
        return false
      }
      // The assignment stands, and with it what is finished: it is committed as soon as the broker takes it.
      options.onFailure(error)
      if (taken !== undefined) waitOn(taken)
      return false
    }
    for (const { progress, point } of snapshots) progress.confirmed(point)
    taken?.resolve('settled')
    return true
  }

  const isDirty = (): boolean => [...partitions.values()].some(({ dirty }) => dirty)

  const rest = (waitMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (pause.isShort) {
        resolve()
        return
      }
      const goOn = (): void => {
        timer.cancel()
        pause.goOn = undefined
        resolve()
      }
      const timer = clock.schedule(waitMs, goOn)
      pause.goOn = goOn
    })
  const hurry = (): void => {
    pause.isShort = true
    pause.goOn?.()
  }

  const run = async (): Promise<void> => {
    // Whatever is settled in the same turn of the event loop goes with the first request.
    await Promise.resolve()
    for (let failures = 0; !isOver() && (waiting !== undefined || isDirty());) {
      pause.isShort = false
      failures = (await commitOnce()) ? 0 : failures + 1
      const isFull = failures === 0 && waiting !== undefined && waiting.count >= options.count
      if (!isFull) await rest(failures === 0 ? options.intervalMs : options.pauseMs(failures))
    }
    running = undefined
  }

  const start = (): void => {
    if (!over) running ??= run()
  }

  return {
    request() {
      if (over) return Promise.resolve('unknown')
      waiting ??= newWaiting()
      waiting.count += 1
      if (waiting.count >= options.count && !pause.isShort) hurry()
      start()
      return waiting.answer
    },
    touch: start,
    async flush() {
      hurry()
      while (!isOver() && isDirty()) if (!(await commitOnce())) return
    },
    end() {
      over = true
      hurry()
      waiting?.resolve('unknown')
      waiting = undefined
    },
  }
}

/** One promise for all of them: a record that is settled costs none of its own. */
function newWaiting(): Waiting {
  const { promise: answer, resolve } = Promise.withResolvers<SendResult>()
  return { answer, resolve, count: 0 }
}
