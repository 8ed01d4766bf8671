import { OptionsError } from '@litebus/core'
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
 *
 * @throws OptionsError when it is given something else, such as the package itself.
 */
export function confluentClient(kafka: ConfluentKafka): ConfluentClient {
  const { producer, consumer, admin } = kafka as Partial<Record<keyof ConfluentKafka, unknown>>
  if ([producer, consumer, admin].some((call) => typeof call !== 'function'))
    throw new OptionsError('confluentClient', [
      'expected a client, as new KafkaJS.Kafka(…) of @confluentinc/kafka-javascript makes it, found something without its calls',
    ])
  return Object.freeze({ package: '@confluentinc/kafka-javascript', kafka })
}

/** True for what {@link confluentClient} makes. */
export function isConfluentClient(client: object): client is ConfluentClient {
  return (client as Partial<ConfluentClient>).package === '@confluentinc/kafka-javascript'
}
