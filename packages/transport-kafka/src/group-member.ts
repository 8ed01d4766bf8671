import { backoffDelayMs, isLiteBusError, sleep, within } from '@litebus/core'
import type { GroupTopic, KafkaDriver } from './driver.ts'
import { missingTopic, safeText, unavailable } from './errors.ts'
import { openGroupSession, type GroupSession, type GroupSessionEvents } from './group-session.ts'
import type { ResolvedKafkaOptions } from './options.ts'

/** A member of a consumer group that joins again, however often its session ends. */
export interface GroupMember {
  /**
   * Joins, and resolves with the first assignment.
   *
   * @throws TopologyMismatchError when the topic is missing, or its log does not hold what comes next.
   * @throws TransportUnavailableError when the group could not be joined.
   */
  start(): Promise<void>
  /** Stops fetching a partition. */
  pause(partition: number): void
  /** Fetches it again. */
  resume(partition: number): void
  /** Commits what is finished and leaves the group for good. */
  leave(): Promise<void>
}

/** What a member works with. */
export interface GroupMemberSetup {
  /** Options of the transport. */
  readonly options: ResolvedKafkaOptions
  /** Kafka. */
  readonly driver: KafkaDriver
  /** Group and topic. */
  readonly request: GroupTopic
  /** Told what happens; `onFailed` at most once, and nothing after it. */
  readonly events: Omit<GroupSessionEvents, 'onEnded'>
}

/** A member that has not joined yet. */
export function createGroupMember({ options, driver, request, events }: GroupMemberSetup): GroupMember {
  const { clock, logger, random } = options
  const over = new AbortController()
  let session: GroupSession | undefined
  let started = false
  let trying = false
  /** Ends the session that is being opened. */
  let opening = new AbortController()

  const isOver = (): boolean => over.signal.aborted
  const pauseBetween = (attempt: number): Promise<void> =>
    sleep(clock, backoffDelayMs(attempt, options.reconnect, random), over.signal)

  const open = async (): Promise<GroupSession> => {
    const limit = new AbortController()
    opening = limit
    const session = openGroupSession({
      options,
      driver,
      request,
      signal: limit.signal,
      events: { ...events, onEnded: reopen, onFailed: fail },
    })
    try {
      return await within(clock, options.joinTimeoutMs, session)
    } catch (error) {
      limit.abort()
      throw error
    }
  }

  const fail = (error: Error): void => {
    if (isOver()) return
    over.abort()
    void session?.leave().catch(() => undefined)
    if (started) events.onFailed(error)
  }

  const reopen = (error: unknown): void => {
    session = undefined
    if (isOver() || !started) return
    logger.warn('the membership of the group has ended; it joins again', {
      ...request,
      reason: safeText(error, options),
    })
    void keepTrying()
  }

  const keepTrying = async (): Promise<void> => {
    // A session that ends while it opens is told of twice.
    if (trying) return
    trying = true
    for (let attempt = 1; !isOver() && session === undefined; attempt += 1) {
      try {
        const opened = await open()
        if (isOver()) await opened.leave()
        else if (!opened.ended) session = opened
      } catch (error) {
        const reason = safeText(error, options)
        logger.warn('the group could not be joined; trying again', { ...request, attempt, reason })
        await pauseBetween(attempt)
      }
    }
    trying = false
  }

  /** The topic is there, so the broker is: a group that cannot be joined yet may still be loading. */
  const openFirst = async (): Promise<GroupSession> => {
    const deadline = clock.monotonic() + options.joinTimeoutMs
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await open()
      } catch (error) {
        if (isLiteBusError(error) || isOver() || clock.monotonic() >= deadline) throw error
        await pauseBetween(attempt)
      }
    }
  }

  /** The client looks for a topic that is gone without end and without a word. */
  const watchTopic = async (): Promise<void> => {
    const grace = options.missingSourceGraceMs
    let missingSince: number | undefined
    while (!isOver()) {
      await sleep(clock, Math.max(100, grace / 3), over.signal)
      if (isOver()) return
      const found = await driver.describeTopic(request.topic).catch(() => 'unknown' as const)
      if (found !== undefined) missingSince = undefined
      else missingSince ??= clock.monotonic()
      if (missingSince !== undefined && clock.monotonic() - missingSince >= grace)
        fail(missingTopic(request.topic))
    }
  }

  return {
    async start() {
      try {
        if ((await driver.describeTopic(request.topic)) === undefined) throw missingTopic(request.topic)
        session = await openFirst()
      } catch (error) {
        over.abort()
        if (isLiteBusError(error)) throw error
        throw unavailable(`cannot consume from ${request.topic}`, safeText(error, options), error)
      }
      started = true
      if (session.ended) reopen(new Error('the session ended with its first assignment'))
      void watchTopic()
    },
    pause(partition) {
      session?.pause([partition])
    },
    resume(partition) {
      session?.resume([partition])
    },
    async leave() {
      over.abort()
      if (session === undefined) opening.abort()
      await session?.leave()
    },
  }
}
