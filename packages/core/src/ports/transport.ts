import type { Failure } from '../policies/failure.ts'
import type { Delivery } from './delivery.ts'
import type { OutboundMessage } from './transport-message.ts'

/** What a destination can do, as data: the only thing that tests, documentation and validation read. */
export interface TransportCapabilities {
  /** Deliveries of one key or partition come in order. */
  readonly orderedStream: boolean
  /** A part of the stream can be paused without giving deliveries back. */
  readonly pausable: boolean
  /** A publish can be delayed by the broker. */
  readonly delayedDelivery: boolean
  /** Longest delay of one publish in milliseconds; 0 without `delayedDelivery`. */
  readonly maxDelayMs: number
  /** `discard` parks the message in a dead-letter place of the broker. */
  readonly nativeDeadLetter: boolean
  /** Deliveries are settled one by one. */
  readonly perMessageAck: boolean
  /** Deliveries carry a trustworthy count. */
  readonly deliveryCount: boolean
  /**
   * Redeliveries after which the broker discards a message by itself, from its declaration; absent where there is no
   * limit, or where it is not known.
   */
  readonly deliveryLimit?: number
  /**
   * How long a delivery may be held before it should go back, in milliseconds: less than what the broker allows by
   * itself. `Infinity` where holding one never costs a redelivery. Absent where that is not known.
   */
  readonly maxHoldMs?: number
  /** Several messages travel in one request. */
  readonly batchPublish: boolean
  /** Most messages of one request. */
  readonly maxBatchMessages: number
  /** Most bytes of one request. */
  readonly maxBatchBytes: number
  /** Most bytes of one message, body and headers. */
  readonly maxMessageBytes: number
  /** Bodies travel as bytes, not as text. */
  readonly binaryBody: boolean
  /** The destination drops a second publish with the same deduplication id. */
  readonly deduplication: boolean
  /** Ordering keys map to sessions or groups that are handled by one receiver at a time. */
  readonly sessions: boolean
}

/**
 * What became of one publish. `rejected`: the broker has not taken it, and trying again without a change may fail
 * again. `ambiguous`: it may or may not have been taken. An unavailable broker is `unavailable`: nothing was sent.
 */
export type PublishOutcome =
  | { readonly status: 'confirmed' }
  | { readonly status: 'rejected'; readonly failure: Failure }
  | { readonly status: 'ambiguous'; readonly failure: Failure }
  | { readonly status: 'unavailable'; readonly failure: Failure }

/** Publishes with confirmation. */
export interface TransportPublisher {
  /**
   * Publishes in the order given and answers slot by slot; never rejects for a reason of the broker. An aborted
   * signal makes what is not answered yet `ambiguous` (sent) or `unavailable` (not sent).
   */
  publish(
    messages: readonly OutboundMessage[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly PublishOutcome[]>
}

/** What a subscription starts with. */
export interface SubscribeOptions {
  /** Queue, topic or subscription. */
  readonly source: string
  /** Most deliveries handed out and not settled; the library's own cap. */
  readonly maxInFlight: number
  /** Deliveries that the broker may push ahead. @defaultValue maxInFlight */
  readonly prefetch?: number
  /** Called when the subscription ended for good without being stopped; the reason names what to do. */
  readonly onFailure?: (error: unknown) => void
  /**
   * Called when the deliveries handed out and not settled were revoked, also by a stop: they settle nothing any more, and
   * the broker delivers them again.
   */
  readonly onRevoked?: () => void
  /** Called for every change of the connection behind the subscription. */
  readonly onStateChange?: (state: SubscriptionState) => void
}

/** State of a subscription: consuming, between two connections, paused, or ended. */
export type SubscriptionState = 'consuming' | 'recovering' | 'paused' | 'stopped' | 'failed'

/** What was left when a subscription stopped. */
export interface StopReport {
  /** Deliveries that were handed out and not settled within the budget; the broker will deliver them again. */
  readonly unsettled: number
}

/** A running subscription. */
export interface Subscription {
  /** Current state. */
  readonly state: SubscriptionState
  /** Stops handing out; deliveries handed out stay valid. Resolves once no more will come. */
  pause(): Promise<void>
  /** Hands out again. */
  resume(): Promise<void>
  /**
   * Stops intake, waits up to `budgetMs` for the deliveries handed out to be settled on the same channel or
   * generation, then revokes the rest and closes. Stopping again returns the same report, and may bring the end
   * forward but never put it off.
   */
  stop(options: { readonly budgetMs: number }): Promise<StopReport>
}

/** Consumes with settlement. */
export interface TransportConsumer {
  /**
   * Subscribes and resolves once the broker has agreed. `onDelivery` is called for each delivery, at most
   * `maxInFlight` at a time without settlement, and must not throw.
   *
   * @throws TopologyMismatchError when the source is missing or differs from what was declared.
   * @throws TransportUnavailableError when the broker cannot be reached.
   */
  subscribe(options: SubscribeOptions, onDelivery: (delivery: Delivery) => void): Promise<Subscription>
}

/** Looks at messages without taking them, for redrive. */
export interface TransportBrowser {
  /** Up to `limit` messages of a source. */
  browse(source: string, limit: number): Promise<readonly Delivery[]>
}

/** One broker. */
export interface Transport extends AsyncDisposable {
  /** `messaging.system` of the semantic conventions: `rabbitmq`, `kafka`, `aws_sqs`, `servicebus`, `inmemory`. */
  readonly system: string
  /** What a destination can do. */
  capabilitiesOf(destination: string): TransportCapabilities
  /**
   * Names who reads a source by this transport, so that two readers which each get all of its messages have two names,
   * and every instance of one has the same, also after a restart: a virtual host and its queue, a consumer group and
   * its topic. @defaultValue the source is its only reader
   */
  readerOf?(source: string): string
  /** Publishes with confirmation. */
  readonly publisher: TransportPublisher
  /** Consumes with settlement. */
  readonly consumer: TransportConsumer
  /** Looks without taking, where the broker can. */
  readonly browser?: TransportBrowser
  /**
   * Resolves when the broker (and the destination, if one is named) can be used; throws otherwise. With `delayMs` the
   * destination includes the place where a publish with that delay waits.
   */
  probe(destination?: string, options?: { readonly delayMs?: number }): Promise<void>
  /** Closes all connections; subscriptions are stopped without a budget. Idempotent. */
  close(): Promise<void>
}
