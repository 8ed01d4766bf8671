/** Where a queue sends what it discards. */
export interface AmqpDeadLetter {
  /** Exchange; the empty string is the default exchange. @defaultValue '' */
  readonly exchange?: string
  /** Routing key, for the default exchange the name of a queue. @defaultValue the key of the message */
  readonly routingKey?: string
  /**
   * `at-least-once` (quorum queues only) keeps the message until its target has it, and needs
   * `overflow: 'reject-publish'`: without it a broker accepts the strategy and silently does not follow it.
   * @defaultValue 'at-most-once'
   */
  readonly strategy?: 'at-most-once' | 'at-least-once'
}

/** A queue, as it is declared. */
export interface AmqpQueue {
  /** Name, 1 to 255 bytes. */
  readonly name: string
  /** Quorum queues are replicated and count deliveries; classic queues do neither. @defaultValue 'quorum' */
  readonly kind?: 'quorum' | 'classic'
  /** Survives a restart; a quorum queue always does. @defaultValue true */
  readonly durable?: boolean
  /** Deleted with its connection; classic only. @defaultValue false */
  readonly exclusive?: boolean
  /** Deleted after its last consumer; classic only. @defaultValue false */
  readonly autoDelete?: boolean
  /** Where discarded messages go. @defaultValue none: they are dropped */
  readonly deadLetter?: AmqpDeadLetter
  /** Redeliveries after which a message is discarded; quorum only. @defaultValue none up to server 3, 20 from 4 */
  readonly deliveryLimit?: number
  /** Most messages. It is soft under pipelining: more may be taken before the first refusal. */
  readonly maxLength?: number
  /** Most bytes of bodies. */
  readonly maxLengthBytes?: number
  /** What a full queue does. @defaultValue 'drop-head', the broker's own */
  readonly overflow?: 'drop-head' | 'reject-publish' | 'reject-publish-dlx'
  /** Age at which messages are discarded, in milliseconds. */
  readonly messageTtlMs?: number
  /** Unused time after which the queue is deleted, in milliseconds. */
  readonly expiresMs?: number
  /** Highest priority; classic only, refused on quorum queues. */
  readonly maxPriority?: number
  /**
   * One consumer at a time, the others stand by: deliveries keep their order. A quorum queue needs a `deliveryLimit`
   * too: without one it puts returned messages at its tail. @defaultValue false
   */
  readonly singleActiveConsumer?: boolean
  /**
   * Delays in milliseconds that a publish to this queue may ask for, at most 32. A publish waits in the shortest one that
   * is long enough, in a quorum queue named `{name}.delay.{milliseconds}`, and comes here afterwards. @defaultValue none
   */
  readonly delays?: readonly number[]
  /** Further arguments, passed through; they may not repeat those above. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** An exchange, as it is declared. */
export interface AmqpExchange {
  /** Name, 1 to 255 bytes. */
  readonly name: string
  /** Kind of routing. @defaultValue 'topic' */
  readonly type?: 'direct' | 'topic' | 'fanout' | 'headers' | (string & {})
  /** Survives a restart. @defaultValue true */
  readonly durable?: boolean
  /** Deleted after its last binding. @defaultValue false */
  readonly autoDelete?: boolean
  /** Takes no publishes, only bindings. @defaultValue false */
  readonly internal?: boolean
  /** Exchange that takes what this one cannot route. */
  readonly alternateExchange?: string
  /** Further arguments, passed through. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** A binding from an exchange to a queue or to another exchange. */
export interface AmqpBinding {
  /** Exchange that messages come from. */
  readonly exchange: string
  /** Queue that they go to. */
  readonly queue?: string
  /** Exchange that they go to, instead of a queue. */
  readonly toExchange?: string
  /** Routing key or pattern. @defaultValue '' */
  readonly routingKey?: string
  /** Arguments, for headers exchanges. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** What the broker should hold. */
export interface AmqpTopology {
  /**
   * `assert` declares everything on every new connection; `verify` only looks whether it exists, which needs no
   * permission to configure but cannot see arguments. @defaultValue 'assert'
   */
  readonly mode?: 'assert' | 'verify'
  /** Queues. */
  readonly queues?: readonly AmqpQueue[]
  /** Exchanges. */
  readonly exchanges?: readonly AmqpExchange[]
  /** Bindings; asserted after queues and exchanges, not verified: the protocol has no passive binding. */
  readonly bindings?: readonly AmqpBinding[]
}

/** Arguments of the declaration of a queue, in the names of the broker. */
export function queueArguments(queue: AmqpQueue): Record<string, unknown> {
  const { deadLetter } = queue
  const entries: readonly (readonly [string, unknown])[] = [
    ['x-queue-type', queue.kind ?? 'quorum'],
    ['x-dead-letter-exchange', deadLetter === undefined ? undefined : (deadLetter.exchange ?? '')],
    ['x-dead-letter-routing-key', deadLetter?.routingKey],
    ['x-dead-letter-strategy', deadLetter?.strategy],
    ['x-delivery-limit', queue.deliveryLimit],
    ['x-max-length', queue.maxLength],
    ['x-max-length-bytes', queue.maxLengthBytes],
    ['x-overflow', queue.overflow],
    ['x-message-ttl', queue.messageTtlMs],
    ['x-expires', queue.expiresMs],
    ['x-max-priority', queue.maxPriority],
    ['x-single-active-consumer', queue.singleActiveConsumer],
  ]
  return {
    ...queue.arguments,
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
  }
}
