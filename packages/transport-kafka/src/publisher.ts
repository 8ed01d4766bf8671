import {
  isLiteBusError,
  publishFailures,
  type Failure,
  type OutboundMessage,
  type PublishOutcome,
  type TransportPublisher,
} from '@litebus/core'
import type { DescribedPartition, KafkaDriver } from './driver.ts'
import { safeText } from './errors.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import { createProducers } from './producers.ts'
import { createRecordPreparation, placeRecord, type PreparedRecord } from './produced-record.ts'
import { createPublishCall, type PublishCall } from './publish-call.ts'
import { createPublishLane, type PublishLane } from './publish-lane.ts'
import type { Topics } from './topics.ts'

/** A publisher that its transport can close. */
export interface KafkaPublisher extends TransportPublisher {
  /** Takes nothing more, waits until what is under way is answered, and closes its producers. */
  close(): Promise<void>
}

/** Partitions of a topic, or why nothing can be sent to it. */
type Place =
  | { readonly partitions: readonly DescribedPartition[]; readonly lanes: Map<number, PublishLane> }
  | { readonly refused: PublishOutcome }

/** What is known about one message of a call before it is sent. */
interface Prepared {
  readonly slot: number
  readonly prepared: PreparedRecord | undefined
  readonly place: Place | undefined
}

/** Publishes with one request at a time for each topic and leader, which carries all that came meanwhile. */
export function createKafkaPublisher(
  options: ResolvedKafkaOptions,
  driver: KafkaDriver,
  topics: Topics,
): KafkaPublisher {
  const { clock, logger } = options
  const producers = createProducers(driver)
  const prepareRecord = createRecordPreparation(options)
  /** By topic, then by leader. */
  const lanes = new Map<string, Map<number, PublishLane>>()
  let closed = false
  let withoutKey = 0

  const lanesOf = (topic: string): Map<number, PublishLane> => {
    const known = lanes.get(topic) ?? new Map<number, PublishLane>()
    lanes.set(topic, known)
    return known
  }
  const openLane = (topic: string): PublishLane =>
    createPublishLane({
      write: (records) => {
        const partitions = new Set(records.map(({ partition }) => partition))
        const places = new Set([...partitions].map((partition) => JSON.stringify([topic, partition])))
        return producers.write(places, (producer) => producer.write(topic, records))
      },
      refusalOf: (error) => driver.refusalOf(error),
      onFailure: (error) => {
        topics.forget(topic)
        logger.warn('a write failed; the next one takes a fresh producer', {
          topic,
          reason: safeText(error, options),
        })
      },
      maxPartitionBytes: options.maxMessageBytes,
      maxMessages: options.maxBatchMessages,
      writeTimeoutMs: options.publishTimeoutMs,
      clock,
    })

  const placeOf = async (topic: string): Promise<Place> => {
    if (closed) return { refused: unavailable(publishFailures.closed) }
    try {
      const partitions = await topics.partitionsOf(topic)
      if (partitions === undefined || partitions.length === 0)
        return { refused: { status: 'rejected', failure: publishFailures.destinationMissing } }
      return { partitions, lanes: lanesOf(topic) }
    } catch (error) {
      const isClosed = isLiteBusError(error, 'TRANSPORT_CLOSED')
      return { refused: unavailable(isClosed ? publishFailures.closed : publishFailures.connectionLost) }
    }
  }

  const placesOf = async (names: ReadonlySet<string>): Promise<ReadonlyMap<string, Place>> =>
    new Map(
      await Promise.all(
        [...names].map(async (topic): Promise<[string, Place]> => [topic, await placeOf(topic)]),
      ),
    )

  const send = (call: PublishCall, message: OutboundMessage, { slot, prepared, place }: Prepared): void => {
    if (prepared === undefined || 'refused' in prepared) {
      call.refuse(message, slot, prepared?.refused ?? unavailable(publishFailures.connectionLost))
      return
    }
    if (place === undefined || 'refused' in place) {
      call.refuse(message, slot, place?.refused ?? unavailable(publishFailures.connectionLost))
      return
    }
    const { key, value, headers, bytes } = prepared.parts
    const { partition, leader } = placeRecord(key, place.partitions, withoutKey)
    if (key === null) withoutKey += 1
    const record = { partition, key, value, headers }
    const publish = call.outstanding(message, slot, { record, bytes })
    if (publish === undefined) return
    let lane = place.lanes.get(leader)
    if (lane === undefined) {
      lane = openLane(message.destination)
      place.lanes.set(leader, lane)
    }
    lane.add(publish)
  }

  return {
    async publish(given, { signal } = {}) {
      // The caller may use its array again.
      const messages = [...given]
      using call = createPublishCall({
        messageCount: messages.length,
        clock,
        timeoutMs: options.publishTimeoutMs,
        signal,
      })
      const prepared = messages.map(prepareRecord)
      const names = new Set<string>()
      prepared.forEach((one, slot) => {
        const destination = messages[slot]?.destination
        if ('parts' in one && destination !== undefined) names.add(destination)
      })
      const places = await call.unlessEnded(() => placesOf(names))
      messages.forEach((message, slot) => {
        send(call, message, { slot, prepared: prepared[slot], place: places?.get(message.destination) })
      })
      return await call.outcomes
    },
    async close() {
      closed = true
      await Promise.all(
        [...lanes.values()].flatMap((ofTopic) => [...ofTopic.values()].map((lane) => lane.idle())),
      )
      await producers.close()
    },
  }
}

function unavailable(failure: Failure): PublishOutcome {
  return { status: 'unavailable', failure }
}
