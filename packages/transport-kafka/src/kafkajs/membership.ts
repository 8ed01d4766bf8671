import { OptionsError } from '@litebus/core'
import type {
  FetchedBatch,
  GroupTopic,
  KafkaMembership,
  MembershipEvents,
  OffsetToCommit,
} from '../driver.ts'
import type { KafkaJsBatchPayload, KafkaJsConsumer } from './client-shape.ts'
import { recordOf } from './records.ts'

/** Fetches of so many partitions may wait for room at the same time. */
const concurrentPartitions = 16

/** Joins with a consumer that is new, and never restarts by itself. */
export async function joinGroup(
  consumer: KafkaJsConsumer,
  { topic }: GroupTopic,
  { events, beforeLeaving }: { readonly events: MembershipEvents; readonly beforeLeaving: () => void },
): Promise<KafkaMembership> {
  requireEvents(consumer)
  let commitOnce: KafkaJsBatchPayload['commitOffsetsIfNecessary'] | undefined
  const joining: { failure?: unknown } = {}
  let joined = false
  let left = false

  const listen = (name: string, listener: (payload: never) => void): void => {
    const event = consumer.events[name]
    if (event === undefined) return
    consumer.on(event as never, ({ payload }) => {
      if (!left) listener(payload)
    })
  }
  listen('GROUP_JOIN', ({ memberAssignment }: { readonly memberAssignment: Record<string, number[]> }) => {
    events.onAssigned(memberAssignment[topic] ?? [])
  })
  listen('REBALANCING', () => {
    void events.onRebalancing()
  })
  listen('HEARTBEAT', () => {
    events.onAnswer()
  })
  listen('REQUEST', ({ apiName }: { readonly apiName: string }) => {
    if (apiName === 'Fetch') events.onAnswer()
  })
  listen('CRASH', ({ error }: { readonly error: unknown }) => {
    left = true
    beforeLeaving()
    if (joined) events.onEnded(error)
    else joining.failure = error
  })
  // The client skips what holds no record, and says so nowhere else.
  listen('START_BATCH_PROCESS', (batch: EmptyBatch) => {
    if (batch.batchSize === 0) void events.onRecords(emptyBatch(batch))
  })

  const eachBatch = async (payload: KafkaJsBatchPayload): Promise<void> => {
    const { batch } = payload
    commitOnce = (offsets) => payload.commitOffsetsIfNecessary(offsets)
    if (left || payload.isStale()) return
    const { fetchedOffset } = batch as { readonly fetchedOffset?: string }
    await events.onRecords({
      partition: batch.partition,
      askedFor: offsetOf(fetchedOffset),
      first: offsetOf(batch.messages[0]?.offset),
      next: BigInt(batch.lastOffset()) + 1n,
      end: BigInt(batch.highWatermark),
      records: batch.messages.map(recordOf),
    })
  }

  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: concurrentPartitions, eachBatch })
  if ('failure' in joining) throw asError(joining.failure)
  joined = true

  return {
    async commit(offsets) {
      // The call of a batch commits once; the other one tries again by itself, also after the next assignment.
      if (commitOnce !== undefined)
        await commitOnce({ topics: [{ topic, partitions: offsets.map(commitOf) }] })
      else await consumer.commitOffsets(offsets.map((offset) => ({ topic, ...commitOf(offset) })))
    },
    seek(partition, offset) {
      if (!left) consumer.seek({ topic, partition, offset: String(offset) })
    },
    pause(partitions) {
      if (!left) consumer.pause([{ topic, partitions: [...partitions] }])
    },
    resume(partitions) {
      if (!left) consumer.resume([{ topic, partitions: [...partitions] }])
    },
    async leave() {
      if (left) return
      left = true
      beforeLeaving()
      await consumer.disconnect()
    },
  }
}

function offsetOf(digits: string | undefined): bigint | undefined {
  return digits === undefined ? undefined : BigInt(digits)
}

/** Without them nobody would know of an assignment, and of its end. */
function requireEvents(consumer: { readonly events?: KafkaJsConsumer['events'] }): void {
  const missing = ['GROUP_JOIN', 'REBALANCING', 'CRASH'].filter((name) => !hasEvent(consumer, name))
  if (missing.length === 0) return
  throw new OptionsError('kafkaTransport', [
    `expected a client whose consumers have the events of KafkaJS, found none called ${missing.join(', ')}; a client of @confluentinc/kafka-javascript goes through confluentClient`,
  ])
}

/** Some clients have the property and throw when it is read. */
function hasEvent(consumer: { readonly events?: KafkaJsConsumer['events'] }, name: string): boolean {
  try {
    return consumer.events?.[name] !== undefined
  } catch {
    return false
  }
}

interface EmptyBatch {
  readonly batchSize: number
  readonly partition: number
  /** Null where all of it was compacted away. */
  readonly firstOffset: string | null
  readonly lastOffset: string
  readonly highWatermark: string
}

function emptyBatch({ partition, firstOffset, lastOffset, highWatermark }: EmptyBatch): FetchedBatch {
  return {
    partition,
    askedFor: undefined,
    first: offsetOf(firstOffset ?? undefined),
    next: BigInt(lastOffset) + 1n,
    end: BigInt(highWatermark),
    records: [],
  }
}

function commitOf({ partition, offset, metadata }: OffsetToCommit): {
  partition: number
  offset: string
  metadata: string
} {
  return { partition, offset: String(offset), metadata }
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
