import type { ConfluentKafka } from './client-shape.ts'

/** A client of `@confluentinc/kafka-javascript`, for the option `client` of the transport. */
export interface ConfluentClient {
  /** Whose client it is. */
  readonly package: '@confluentinc/kafka-javascript'
  /** The client. */
  readonly kafka: ConfluentKafka
}

/**
 * Lets the transport use `@confluentinc/kafka-javascript`: `confluentClient(new KafkaJS.Kafka({ kafkaJS: { brokers } }))`.
 * Addresses, TLS and authentication are those of the client that is given.
 */
export function confluentClient(kafka: ConfluentKafka): ConfluentClient {
  return Object.freeze({ package: '@confluentinc/kafka-javascript', kafka })
}

/** True for what {@link confluentClient} makes. */
export function isConfluentClient(client: object): client is ConfluentClient {
  return (client as Partial<ConfluentClient>).package === '@confluentinc/kafka-javascript'
}
