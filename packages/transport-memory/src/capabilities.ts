import { maxTimerMs, type TransportCapabilities } from '@litebus/core'
import type { ResolvedMemoryOptions } from './options.ts'

/** What a queue can do, from its declaration; exchanges and unknown names count as plain queues. */
export function memoryCapabilities(
  options: ResolvedMemoryOptions,
  destination: string,
): TransportCapabilities {
  const queue = options.broker.internals.queue(destination)?.options
  return {
    orderedStream: queue?.ordered === true,
    pausable: true,
    delayedDelivery: true,
    maxDelayMs: maxTimerMs,
    nativeDeadLetter: queue?.deadLetter !== undefined,
    perMessageAck: true,
    deliveryCount: true,
    ...(queue?.deliveryLimit === undefined ? {} : { deliveryLimit: queue.deliveryLimit }),
    maxHoldMs: Number.POSITIVE_INFINITY,
    batchPublish: true,
    maxBatchMessages: 1000,
    maxBatchBytes: 1000 * options.maxMessageBytes,
    maxMessageBytes: options.maxMessageBytes,
    binaryBody: true,
    deduplication: queue?.deduplicate === true,
    sessions: false,
  }
}
