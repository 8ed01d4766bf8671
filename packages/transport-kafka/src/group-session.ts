import { backoffDelayMs, isLiteBusError, sleep } from '@litebus/core'
import { assignPartitions } from './assign-partitions.ts'
import type { Assignment } from './assignment.ts'
import type { FetchedBatch, GroupTopic, KafkaDriver, KafkaMembership } from './driver.ts'
import { offsetOutOfRange, safeText } from './errors.ts'
import type { ResolvedKafkaOptions } from './options.ts'

/** What happens in a session. */
export interface GroupSessionEvents {
  /** There is an assignment whose records may be handed out. */
  readonly onReady: (assignment: Assignment) => void
  /** The assignment is over: its deliveries settle nothing any more. */
  readonly onLost: () => void
  /** The connection was lost, and with it what was handed out; the assignment itself may outlive that. */
  readonly onSuspended: (assignment: Assignment) => void
  /** Records came, or the broker answers again; resolves when the partition may be fetched again. */
  readonly onRecords: (assignment: Assignment, partition: number) => Promise<void>
  /** The session is over, unasked: another one may go on. */
  readonly onEnded: (error: unknown) => void
  /** No other session would do better. */
  readonly onFailed: (error: Error) => void
}

/** One membership of a group, from its first assignment to its end. */
export interface GroupSession extends Pick<KafkaMembership, 'pause' | 'resume'> {
  /** True once it is over, however it ended. */
  readonly ended: boolean
  /** Commits what is finished and leaves the group. */
  leave(): Promise<void>
}

/** What a session works with. */
export interface GroupSessionSetup {
  /** Options of the transport. */
  readonly options: ResolvedKafkaOptions
  /** Kafka. */
  readonly driver: KafkaDriver
  /** Group and topic. */
  readonly request: GroupTopic
  /** Told what happens. */
  readonly events: GroupSessionEvents
  /** Ends it, also before it has begun. */
  readonly signal: AbortSignal
}

/** Fetches in a row that did not start where they should, after which the log itself is looked at. */
const missesBeforeDoubt = 2

/**
 * Joins the group, and resolves with the first assignment.
 *
 * @throws TopologyMismatchError when the log does not hold what comes next; whatever the client throws otherwise.
 */
export async function openGroupSession(setup: GroupSessionSetup): Promise<GroupSession> {
  const { options, driver, request, events, signal } = setup
  const { clock, logger } = options
  const first = Promise.withResolvers<undefined>()
  const over = new AbortController()
  let assignment: Assignment | undefined
  let suspended = false
  let generation = 0
  let preparing: Promise<void> = Promise.resolve()

  const lose = (): void => {
    generation += 1
    suspended = false
    const lost = assignment
    assignment = undefined
    lost?.committer.end()
    if (lost !== undefined) events.onLost()
  }
  const end = (): void => {
    over.abort()
    lose()
  }
  const fail = (error: Error): void => {
    if (over.signal.aborted) return
    end()
    first.reject(error)
    events.onFailed(error)
  }

  const prepare = async (mine: number, partitions: readonly number[]): Promise<void> => {
    for (let attempt = 1; generation === mine; attempt += 1) {
      try {
        const found = await assignPartitions({ options, driver, request, joined }, partitions)
        if (generation !== mine) return
        assignment = found
        logger.info('partitions are assigned', { ...request, partitions: partitions.join(' ') })
        // A group without an offset starts here: committed, a record that is deleted unread is noticed.
        found.committer.touch()
        first.resolve(undefined)
        events.onReady(found)
        // The client remembers what was paused in the assignment before.
        if (partitions.length > 0) (await joined).resume(partitions)
        return
      } catch (error) {
        if (isLiteBusError(error, 'TOPOLOGY_MISMATCH')) {
          fail(error)
          return
        }
        const reason = safeText(error, options)
        logger.warn('committed offsets could not be read; trying again', { ...request, attempt, reason })
        await sleep(clock, backoffDelayMs(attempt, options.reconnect, options.random), over.signal)
      }
    }
  }

  const assign = (partitions: readonly number[]): void => {
    lose()
    if (over.signal.aborted) return
    preparing = prepare(generation, partitions)
  }

  const answered = (): void => {
    if (!suspended || assignment === undefined) return
    suspended = false
    assignment.committer.touch()
    events.onReady(assignment)
  }

  const take = async (batch: FetchedBatch): Promise<void> => {
    const { partition } = batch
    await preparing
    const mine = assignment
    const known = mine?.partitions.get(partition)
    if (mine === undefined || known === undefined) return
    if (mine.take(batch)) {
      await events.onRecords(mine, partition)
      return
    }
    // From before a seek or an assignment, or the client went elsewhere because the place is gone from the log.
    const { position } = known.progress
    const membership = await joined
    membership.seek(partition, position)
    if (known.misses < missesBeforeDoubt) return
    const { first: lowest = 0n, end: highest = 0n } =
      (await driver.offsetBounds(request.topic)).get(partition) ?? {}
    if (mine !== assignment || (position >= lowest && position <= highest)) return
    await putRight(membership, { partition, position, lowest, highest })
  }

  /** The client has committed a place of its own choice: ours is committed again, so that the gap stays visible. */
  const putRight = async (
    membership: KafkaMembership,
    { partition, position, lowest, highest }: Gap,
  ): Promise<void> => {
    const error = offsetOutOfRange({ ...request, partition, expected: position, first: lowest, end: highest })
    await membership.commit([{ partition, offset: position, metadata: '' }]).catch(() => undefined)
    if (options.onOffsetOutOfRange === 'fail') fail(error)
    else assign([...(assignment?.partitions.keys() ?? [])])
  }

  const joined = driver.join(request, {
    onAssigned: assign,
    async onRebalancing() {
      const committed = assignment?.committer.flush()
      lose()
      await committed
    },
    async onRecords(batch) {
      answered()
      try {
        await take(batch)
      } catch (error) {
        logger.warn('records could not be taken; they are fetched again', {
          ...request,
          reason: safeText(error, options),
        })
      }
    },
    onAnswer: answered,
    onConnectionLost() {
      if (suspended || assignment === undefined) return
      suspended = true
      events.onSuspended(assignment)
    },
    onEnded(error) {
      if (over.signal.aborted) return
      end()
      first.reject(error)
      events.onEnded(error)
    },
  })
  first.promise.catch(() => undefined)

  const leave = async (): Promise<void> => {
    await assignment?.committer.flush()
    end()
    first.reject(new Error('the session was ended before its first assignment'))
    await (await joined).leave()
  }
  signal.addEventListener('abort', () => void leave().catch(() => undefined), { once: true })

  const membership = await joined
  await first.promise
  return {
    get ended() {
      return over.signal.aborted
    },
    leave,
    pause: (partitions) => {
      membership.pause(partitions)
    },
    resume: (partitions) => {
      membership.resume(partitions)
    },
  }
}

interface Gap {
  readonly partition: number
  readonly position: bigint
  readonly lowest: bigint
  readonly highest: bigint
}
