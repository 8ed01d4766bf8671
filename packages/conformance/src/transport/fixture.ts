import type { HeaderValue, Transport, TransportCapabilities } from '@litebus/core'

/**
 * What a case needs a destination for.
 *
 * - `plain`: publish and consume; every transport has it.
 * - `ordered`: an ordered stream, handed to one consumer at a time.
 * - `deadLetter`: what is discarded goes to a second destination.
 * - `routed`: publishes with a routing key that leads somewhere, or nowhere.
 * - `limited`: like `deadLetter`, for what is discarded and for what was delivered more than three times.
 */
export type DestinationKind = 'plain' | 'ordered' | 'deadLetter' | 'routed' | 'limited'

/** A fresh, empty destination. */
export interface TestDestination {
  /** Where to publish to. */
  readonly destination: string
  /** Where to consume from. */
  readonly source: string
  /** Routing key to publish with, of a `routed` destination. */
  readonly routingKey?: string
  /** Routing key that leads nowhere, of a `routed` destination. */
  readonly strayRoutingKey?: string
  /** Where discarded messages are consumed from, of a `deadLetter` or `limited` destination. */
  readonly deadLetterSource?: string
}

/** A message as a publisher without LiteBus sends it. */
export interface ForeignMessage {
  /** Body. */
  readonly body: Uint8Array
  /** Headers of any type that the broker can carry. */
  readonly headers: Readonly<Record<string, HeaderValue>>
  /** Id, if it sends one. */
  readonly messageId?: string
}

/** One isolated place at a broker. Everything that it opens is disposed by the scope that it was opened with. */
export interface TransportFixture {
  /** Creates an empty destination. Cases create what they need before they connect. */
  createDestination(kind: DestinationKind): Promise<TestDestination>
  /** A transport that knows the destinations created so far; the suite closes it. */
  connect(): Transport
  /** Messages waiting in a source, not those delivered and unsettled. */
  count(source: string): Promise<number>
  /** Deletes a source. */
  deleteSource(source: string): Promise<void>
  /** Faults on demand. */
  readonly disrupt: {
    /** Cuts the connections of all transports of this fixture; new ones succeed. */
    cutConnections(): Promise<void>
    /** Ends the consumers of a source from the side of the broker; the source exists afterwards, its messages may not. */
    cancelConsumers(source: string): Promise<void>
  }
  /** Publishes without LiteBus, where `foreignPublisher` is declared. */
  publishForeign?(target: TestDestination, message: ForeignMessage): Promise<void>
}

/** What the suite knows about a transport before it runs. */
export interface TransportProfile {
  /** Declared capabilities by kind, from the transport itself; a kind that is absent does not exist there. */
  readonly kinds: Readonly<Partial<Record<DestinationKind, TransportCapabilities>>> & {
    readonly plain: TransportCapabilities
  }
  /** The fixture can publish without LiteBus. */
  readonly foreignPublisher: boolean
}
