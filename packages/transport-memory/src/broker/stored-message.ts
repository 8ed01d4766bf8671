import type { InboundMessage } from '@litebus/core'

/** A message as a queue holds it. */
export interface StoredMessage {
  /** Position of its publish; returned messages go back to it. */
  readonly sequence: number
  /** What is delivered, without the name of the queue. */
  readonly message: Omit<InboundMessage, 'destination'>
  /** How often it was delivered. */
  deliveries: number
  /** Attempts carried across returns. */
  attempt?: number
  /** First failure carried across returns. */
  firstFailureAt?: Date
}
