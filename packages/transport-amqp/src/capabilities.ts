import type { TransportCapabilities } from '@litebus/core'
import type { ResolvedAmqpOptions } from './options.ts'

/** What a destination can do, from its declaration; one that is not declared counts as a plain classic queue. */
export function amqpCapabilities(options: ResolvedAmqpOptions, destination: string): TransportCapabilities {
  const queue = options.topology.queues?.find(({ name }) => name === destination)
  const delays = queue?.delays ?? []
  const kind = queue === undefined ? 'classic' : (queue.kind ?? 'quorum')
  // Seen on 3.10: a quorum queue without a delivery limit puts a returned message at its tail, not at its place.
  const returnsInPlace = kind === 'classic' || queue?.deliveryLimit !== undefined
  return {
    orderedStream: queue?.singleActiveConsumer === true && returnsInPlace,
    // What was pushed ahead is handed out behind what went back, and nothing can be told to wait at the broker.
    pausable: false,
    delayedDelivery: delays.length > 0,
    maxDelayMs: Math.max(0, ...delays),
    nativeDeadLetter: queue?.deadLetter !== undefined,
    perMessageAck: true,
    deliveryCount: kind === 'quorum',
    ...(queue?.deliveryLimit === undefined ? {} : { deliveryLimit: queue.deliveryLimit }),
    // Below the consumer timeout of 30 minutes, after which the broker closes the channel with all that it holds.
    maxHoldMs: 20 * 60_000,
    batchPublish: true,
    maxBatchMessages: options.publishWindow,
    maxBatchBytes: options.publishWindowBytes,
    maxMessageBytes: options.maxMessageBytes,
    binaryBody: true,
    deduplication: false,
    sessions: false,
  }
}
