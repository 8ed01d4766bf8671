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
import { refusalOfMessage, toRecord } from './produced-record.ts'
import { createPublishCall, type PublishCall } from './publish-call.ts'
import { createPublishLane, type PublishLane } from './publish-lane.ts'
import type { Topics } from './topics.ts'

/** A publisher that its transport can close. */
export interface KafkaPublisher extends TransportPublisher {
  /** Takes nothing more, waits until what is under way is answered, and closes its producers. */
  close(): Promise<void>
}

/** Partitions of a topic, or why nothing can be sent to it. */
type Place = { readonly partitions: readonly DescribedPartition[] } | { readonly refused: PublishOutcome }

/** Publishes with one request at a time for each topic and leader, which carries all that came meanwhile. */
export function createKafkaPublisher(
  options: ResolvedKafkaOptions,
  driver: KafkaDriver,
  topics: Topics,
): KafkaPublisher {
  const { clock, logger } = options
  const producers = createProducers(driver)
  const lanes = new Map<string, PublishLane>()
  let closed = false
  let withoutKey = 0

  const laneOf = (topic: string, leader: number): PublishLane => {
    const name = `${String(leader)}/${topic}`
    const lane =
      lanes.get(name) ??
      createPublishLane({
        write: (records) => producers.write((producer) => producer.write(topic, records)),
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
    lanes.set(name, lane)
    return lane
  }

  const placeOf = async (topic: string): Promise<Place> => {
    if (closed) return { refused: unavailable(publishFailures.closed) }
    try {
      const partitions = await topics.partitionsOf(topic)
      if (partitions === undefined || partitions.length === 0)
        return { refused: { status: 'rejected', failure: publishFailures.destinationMissing } }
      return { partitions }
    } catch (error) {
      const isClosed = isLiteBusError(error, 'TRANSPORT_CLOSED')
      return { refused: unavailable(isClosed ? publishFailures.closed : publishFailures.connectionLost) }
    }
  }

  const placesOf = async (messages: readonly OutboundMessage[]): Promise<ReadonlyMap<string, Place>> => {
    const names = new Set(messages.map(({ destination }) => destination))
    return new Map(
      await Promise.all(
        [...names].map(async (topic): Promise<[string, Place]> => [topic, await placeOf(topic)]),
      ),
    )
  }

  const send = (
    message: OutboundMessage,
    place: Place | undefined,
    call: PublishCall,
  ): Promise<PublishOutcome> => {
    if (place === undefined || 'refused' in place)
      return call.answered(message, place?.refused ?? unavailable(publishFailures.connectionLost))
    const { partition, leader, record, bytes } = toRecord(message, place.partitions, {
      turn: withoutKey,
      timestampMs: clock.now(),
    })
    if (message.orderingKey === undefined) withoutKey += 1
    return call.outstanding(message, { record: { ...record, partition }, bytes }, (publish) => {
      laneOf(message.destination, leader).add(publish)
    })
  }

  return {
    async publish(messages, { signal } = {}) {
      using call = createPublishCall({ clock, timeoutMs: options.publishTimeoutMs, signal })
      const refusals = messages.map((message) => refusalOfMessage(message, options))
      const sound = messages.filter((_, slot) => refusals[slot] === undefined)
      const places = await call.unlessEnded(() => placesOf(sound))
      return await Promise.all(
        messages.map((message, slot) => {
          const refused = refusals[slot]
          return refused === undefined
            ? send(message, places?.get(message.destination), call)
            : call.answered(message, refused)
        }),
      )
    },
    async close() {
      closed = true
      await Promise.all([...lanes.values()].map((lane) => lane.idle()))
      await producers.close()
    },
  }
}

function unavailable(failure: Failure): PublishOutcome {
  return { status: 'unavailable', failure }
}
