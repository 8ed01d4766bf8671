import type { TransportCapabilities } from '@litebus/core'
import type { ResolvedAmqpOptions } from './options.ts'

/** What a destination can do, from its declaration; one that is not declared counts as a plain classic queue. */
export function amqpCapabilities(options: ResolvedAmqpOptions, destination: string): TransportCapabilities {
  const queue = options.topology.queues?.find(({ name }) => name === destination)
  const kind = queue === undefined ? 'classic' : (queue.kind ?? 'quorum')
  return {
    orderedStream: queue?.singleActiveConsumer === true,
    pausable: queue?.singleActiveConsumer === true,
    delayedDelivery: false,
    maxDelayMs: 0,
    nativeDeadLetter: queue?.deadLetter !== undefined,
    perMessageAck: true,
    deliveryCount: kind === 'quorum',
    batchPublish: true,
    maxBatchMessages: options.publishWindow,
    maxBatchBytes: options.publishWindowBytes,
    maxMessageBytes: options.maxMessageBytes,
    binaryBody: true,
    deduplication: false,
    sessions: false,
  }
}
