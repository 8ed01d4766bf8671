import type { TransportCapabilities } from '@litebus/core'
import type { ResolvedKafkaOptions } from './options.ts'

/** What a topic can do: the same for all of them. */
export function kafkaCapabilities(options: ResolvedKafkaOptions): TransportCapabilities {
  return {
    orderedStream: true,
    pausable: true,
    delayedDelivery: false,
    maxDelayMs: 0,
    nativeDeadLetter: false,
    perMessageAck: false,
    deliveryCount: false,
    // A group keeps its partitions for as long as it heartbeats, whatever is done with their records.
    maxHoldMs: Number.POSITIVE_INFINITY,
    batchPublish: true,
    maxBatchMessages: options.maxBatchMessages,
    maxBatchBytes: options.maxMessageBytes,
    maxMessageBytes: options.maxMessageBytes,
    binaryBody: true,
    deduplication: false,
    sessions: false,
  }
}
