import type { Transport } from '@litebus/core'

/** A source, and whether its messages may be lost to a limit of deliveries. */
export interface LossyLimit {
  /** The broker. */
  readonly transport: Pick<Transport, 'capabilitiesOf'>
  /** Queue, topic or subscription. */
  readonly source: string
  /** Set when that is wanted. */
  readonly allowLossyLimit: boolean
}

/**
 * What is wrong with a source whose broker drops messages by itself, if it does. Every return, lost channel and consumer
 * timeout spends the limit, also for messages that were only prefetched; without a dead-letter target an outage is
 * then a loss.
 */
export function lossyLimitFaults({ transport, source, allowLossyLimit }: LossyLimit): readonly string[] {
  const { deliveryLimit, nativeDeadLetter } = transport.capabilitiesOf(source)
  if (deliveryLimit === undefined || nativeDeadLetter || allowLossyLimit) return []
  return [
    `expected a dead-letter target (capability nativeDeadLetter) on ${source}, since it has a deliveryLimit of ${String(deliveryLimit)}, found none: after that many redeliveries the broker drops a message; give it one, or set allowLossyLimit: true`,
  ]
}
