import type { Delivery, OutboundMessage, PublishOutcome, Transport } from '@litebus/core'

/** A transport whose deliveries pass through `alter` before anybody sees them. */
export function withDeliveries(transport: Transport, alter: (delivery: Delivery) => Delivery): Transport {
  return {
    ...transport,
    consumer: {
      subscribe: (options, onDelivery) =>
        transport.consumer.subscribe(options, (delivery) => {
          onDelivery(alter(delivery))
        }),
    },
  }
}

/** A transport that tells when a subscription is made with it. */
export function withSubscribes(transport: Transport, onSubscribe: () => void): Transport {
  return {
    ...transport,
    consumer: {
      subscribe(options, onDelivery) {
        onSubscribe()
        return transport.consumer.subscribe(options, onDelivery)
      },
    },
  }
}

/** One publish of several messages. */
export type Publish = (messages: readonly OutboundMessage[]) => Promise<readonly PublishOutcome[]>

/** A transport whose publishes pass through `around`. */
export function withPublishes(transport: Transport, around: (publish: Publish) => Publish): Transport {
  return {
    ...transport,
    publisher: {
      publish: (messages, options) => around((each) => transport.publisher.publish(each, options))(messages),
    },
  }
}
