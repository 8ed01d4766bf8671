/** A header value as brokers carry it. Bytes stay bytes; integers beyond 2⁵³ are `bigint`. */
export type HeaderValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Date
  | readonly HeaderValue[]
  | { readonly [name: string]: HeaderValue }

/** Headers by name, as received. */
export type Headers = Readonly<Record<string, HeaderValue | undefined>>

/** A message on its way to a broker. */
export interface OutboundMessage {
  /** Queue, topic or (with a routing key) exchange, as the transport names it. */
  readonly destination: string
  /** Routing key within the destination, for brokers that have one. */
  readonly routingKey?: string
  /** Id that the broker carries as the id of the message. */
  readonly messageId: string
  /** Body bytes, sent unchanged. */
  readonly body: Uint8Array
  /** Headers; names in lower case where LiteBus defines them. */
  readonly headers: Readonly<Record<string, string>>
  /** MIME type of the body. @defaultValue 'application/json' */
  readonly contentType?: string
  /** Messages of one ordering key keep their order where the destination is ordered. */
  readonly orderingKey?: string
  /** Id for a destination that deduplicates, apart from the message id. @defaultValue messageId */
  readonly deduplicationId?: string
  /** Delay before delivery, for destinations with `delayedDelivery`. */
  readonly delayMs?: number
}

/** A message as a broker delivered it. */
export interface InboundMessage {
  /** Queue, topic or subscription that it came from, as the subscription named it. */
  readonly destination: string
  /** Id that the publisher gave, where the broker carries one. */
  readonly messageId?: string
  /** Body bytes, unchanged. */
  readonly body: Uint8Array
  /** All headers of the broker message. */
  readonly headers: Headers
  /** MIME type of the body. */
  readonly contentType?: string
  /** Ordering key, group or session as the broker knows it. */
  readonly orderingKey?: string
  /** Time of the publish, where the broker carries it. */
  readonly timestamp?: Date
}
