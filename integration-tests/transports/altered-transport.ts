import type { Delivery, Transport } from '@litebus/core'

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
