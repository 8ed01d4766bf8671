import { withinOr, type Clock } from '@litebus/core'
import type { GroupTopic, KafkaMembership, MembershipEvents } from '../driver.ts'
import { recordOf } from '../kafkajs/records.ts'
import type { ConfluentBatchPayload, ConfluentConsumer } from './client-shape.ts'
import { createConnectionWatch } from './connection-watch.ts'

/** Fetches of so many partitions may wait for room at the same time. */
const concurrentPartitions = 16

/** Numbers of the two kinds of rebalance. */
const rebalances = { assign: -175, revoke: -174 } as const

/** In place of an offset: the first one that the partition holds. */
const beginning = '-2'

/** How the client tells of a rebalance; it goes on with it when the promise is settled. */
export type OnRebalance = (
  kind: { readonly code?: unknown },
  partitions: readonly { readonly topic: string; readonly partition: number }[],
) => Promise<void>

/** What a consumer tells of. */
export interface ConsumerListeners {
  /** A rebalance. */
  readonly onRebalance: OnRebalance
  /** Statistics, as JSON. */
  readonly onStatistics: (statistics: string) => void
  /** An error, in words. */
  readonly onError: (line: string) => void
}

/** What a member is made of. */
export interface MembershipSetup {
  /** Group and topic. */
  readonly request: GroupTopic
  /** Told what happens. */
  readonly events: MembershipEvents
  /** A new consumer. */
  readonly makeConsumer: (listeners: ConsumerListeners) => ConfluentConsumer
  /** Longest time for which a rebalance waits for commits. */
  readonly patienceMs: number
  /** Time. */
  readonly clock: Clock
}

/**
 * Joins with a consumer that is new. The client joins again by itself, for ever; what it cannot recover from is only
 * found in its log.
 */
export async function joinGroup({
  request: { topic },
  events,
  makeConsumer,
  patienceMs,
  clock,
}: MembershipSetup): Promise<KafkaMembership> {
  const assigned = new Set<number>()
  const paused = new Set<number>()
  let left = false

  const places = (partitions: Iterable<number>): { topic: string; partition: number }[] =>
    [...partitions].map((partition) => ({ topic, partition }))

  const commitFinished = async (): Promise<void> => {
    await withinOr(events.onRebalancing(), { clock, limitMs: patienceMs, otherwise: undefined })
  }

  /** An assignment starts at what is committed; of partitions that are kept the client would go on where it stands. */
  const rewind = async (kept: readonly number[]): Promise<void> => {
    if (kept.length === 0) return
    const committed = await consumer.committed(places(kept), patienceMs)
    for (const { partition, offset } of committed) {
      const isKnown = offset !== null && !offset.startsWith('-')
      consumer.seek({ topic, partition, offset: isKnown ? offset : beginning })
    }
  }

  const onRebalance: OnRebalance = async ({ code }, changed) => {
    if (left) return
    const partitions = changed.filter((one) => one.topic === topic).map(({ partition }) => partition)
    const isIncremental = consumer.rebalanceProtocol() === 'COOPERATIVE'
    await commitFinished()
    if (!isIncremental) assigned.clear()
    const kept = [...assigned]
    for (const partition of partitions)
      if (code === rebalances.assign) assigned.add(partition)
      else assigned.delete(partition)
    for (const partition of [...paused]) if (!assigned.has(partition)) paused.delete(partition)
    // What is revoked altogether is followed by an assignment; what is revoked in part may not be.
    if (code === rebalances.revoke && !isIncremental) return
    await rewind(kept.filter((partition) => assigned.has(partition)))
    events.onAssigned([...assigned])
  }

  const onError = (line: string): void => {
    if (left || !/fatal error|fenced/iu.test(line)) return
    left = true
    void consumer.disconnect().catch(() => undefined)
    events.onEnded(new Error(line))
  }

  const eachBatch = async (payload: ConfluentBatchPayload): Promise<void> => {
    const { batch } = payload
    if (left || payload.isStale()) return
    const last = batch.lastOffset()
    const next = BigInt(last) + 1n
    const end = BigInt(batch.highWatermark)
    // From here on it is ours: a pause or a seek while it is being taken must not bring it again by itself.
    payload.resolveOffset(last)
    await events.onRecords({
      partition: batch.partition,
      askedFor: undefined,
      first: batch.messages[0] === undefined ? undefined : BigInt(batch.messages[0].offset),
      next,
      end: end < next ? next : end,
      records: batch.messages.map(recordOf),
    })
  }

  const connections = createConnectionWatch({
    onLost() {
      if (!left) events.onConnectionLost()
    },
    onAnswer() {
      if (!left) events.onAnswer()
    },
  })
  const consumer = makeConsumer({
    onRebalance,
    onError,
    onStatistics(statistics) {
      connections.see(statistics)
    },
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic] })
  await consumer.run({
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: concurrentPartitions,
    eachBatch,
  })

  return {
    async commit(offsets) {
      await consumer.commitOffsets(
        offsets.map(({ partition, offset, metadata }) => ({
          topic,
          partition,
          offset: String(offset),
          metadata,
        })),
      )
    },
    seek(partition, offset) {
      if (!left) consumer.seek({ topic, partition, offset: String(offset) })
    },
    pause(partitions) {
      if (left) return
      for (const partition of partitions) paused.add(partition)
      consumer.pause([{ topic, partitions: [...partitions] }])
    },
    resume(partitions) {
      // Each call interrupts what the client fetches: only what is paused is worth one.
      const waiting = partitions.filter((partition) => paused.delete(partition))
      if (!left && waiting.length > 0) consumer.resume([{ topic, partitions: waiting }])
    },
    async leave() {
      if (left) return
      left = true
      await consumer.disconnect()
    },
  }
}
