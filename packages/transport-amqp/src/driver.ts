/**
 * The part of amqplib that this adapter uses, by shape: a connection of any compatible version fits, and no type of
 * the client appears in the public surface.
 */

/** Emits events of the client. */
export interface AmqpDriverEmitter {
  /** Adds a listener. */
  on(event: string, listener: (...args: never[]) => void): unknown
}

/** Properties of a message as the client reads them. */
export interface AmqpDriverProperties {
  /** `message-id`. */
  readonly messageId?: unknown
  /** `content-type`. */
  readonly contentType?: unknown
  /** Header table. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  /** Seconds since the epoch. */
  readonly timestamp?: unknown
}

/** A delivered or returned message. */
export interface AmqpDriverMessage {
  /** Body. */
  readonly content: Uint8Array
  /** Fields of the delivery or return. */
  readonly fields: {
    /** Number of the delivery on its channel. */
    readonly deliveryTag: number
    /** True when the broker says that it was delivered before. */
    readonly redelivered: boolean
    /** Exchange that it was published to. */
    readonly exchange: string
    /** Routing key that it was published with. */
    readonly routingKey: string
  }
  /** Properties. */
  readonly properties: AmqpDriverProperties
}

/** A channel. */
export interface AmqpDriverChannel extends AmqpDriverEmitter {
  /** Declares a queue. */
  assertQueue(queue: string, options: Record<string, unknown>): Promise<{ readonly messageCount: number }>
  /** Declares a queue passively. */
  checkQueue(queue: string): Promise<{ readonly messageCount: number; readonly consumerCount: number }>
  /** Declares an exchange. */
  assertExchange(exchange: string, type: string, options: Record<string, unknown>): Promise<unknown>
  /** Declares an exchange passively. */
  checkExchange(exchange: string): Promise<unknown>
  /** Binds a queue to an exchange. */
  bindQueue(queue: string, source: string, pattern: string, args: Record<string, unknown>): Promise<unknown>
  /** Binds an exchange to an exchange. */
  bindExchange(
    target: string,
    source: string,
    pattern: string,
    args: Record<string, unknown>,
  ): Promise<unknown>
  /** Limits unacknowledged deliveries of coming consumers. */
  prefetch(count: number): Promise<unknown>
  /** Starts a consumer; `null` means that the broker cancelled it. */
  consume(
    queue: string,
    onMessage: (message: AmqpDriverMessage | null) => void,
    options: Record<string, unknown>,
  ): Promise<{ readonly consumerTag: string }>
  /** Ends a consumer. */
  cancel(consumerTag: string): Promise<unknown>
  /** Acknowledges a delivery, or all up to it. */
  ack(message: never, allUpTo: boolean): void
  /** Refuses a delivery. */
  nack(message: never, allUpTo: boolean, requeue: boolean): void
  /** Closes the channel. */
  close(): Promise<void>
}

/** A channel with publisher confirms. */
export interface AmqpDriverConfirmChannel extends AmqpDriverChannel {
  /** Publishes; the confirm comes as event `ack` or `nack`. */
  publish(
    exchange: string,
    routingKey: string,
    content: Uint8Array,
    options: Record<string, unknown>,
  ): boolean
}

/** A connection, as `amqplib.connect()` resolves it. */
export interface AmqpDriverConnection extends AmqpDriverEmitter {
  /** Opens a channel. */
  createChannel(): Promise<AmqpDriverChannel>
  /** Opens a channel with publisher confirms. */
  createConfirmChannel(): Promise<AmqpDriverConfirmChannel>
  /** Closes the connection. */
  close(): Promise<void>
}
