/** A queue of the memory broker. */
export interface MemoryQueueOptions {
  /** Name; publishes without a routing key go to it. */
  readonly name: string
  /** Most messages it holds, delivered ones included; publishers wait for room. @defaultValue no limit */
  readonly capacity?: number
  /** What a full queue does: lets publishers wait, or refuses. @defaultValue 'wait' */
  readonly overflow?: 'wait' | 'refuse'
  /** Queue that takes discarded messages. @defaultValue none: they are dropped */
  readonly deadLetter?: string
  /** Returns after which a message is discarded instead of delivered again. @defaultValue no limit */
  readonly deliveryLimit?: number
  /**
   * One ordered stream: one consumer at a time, and a return with a delay holds back everything behind it.
   * @defaultValue false
   */
  readonly ordered?: boolean
  /** Drops a second publish with the same deduplication id. @defaultValue false */
  readonly deduplicate?: boolean
}

/** A direct exchange of the memory broker: publishes with a routing key go to the queues bound with that key. */
export interface MemoryExchangeOptions {
  /** Name. */
  readonly name: string
  /** Routing keys and the queues that they lead to; the key `#` takes everything. */
  readonly bindings: readonly { readonly routingKey: string; readonly queue: string }[]
}

/** How many messages a queue holds. */
export interface MemoryQueueCount {
  /** Waiting for a consumer. */
  readonly ready: number
  /** Delivered and not settled. */
  readonly unsettled: number
  /** Waiting for the end of a delay. */
  readonly delayed: number
}
