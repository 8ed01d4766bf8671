import type { Delivery, Transport } from '@litebus/core'

/** Counts the deliveries that are handed out and not settled, by source. */
export interface HeldDeliveries {
  /** The transport, watched. */
  watch(transport: Transport): Transport
  /** How many are held of a source. */
  of(source: string): number
  /** Resolves when every subscription that consumed when it was called has noticed something, or after a second. */
  noticed(): Promise<void>
}

/**
 * A log does not know what is handed out: the suite asks for what waits apart from that, so it is counted here. A lost
 * connection, a rebalance and a stop take what they revoke.
 */
export function countHeldDeliveries(): HeldDeliveries {
  const held = new Map<object, { readonly source: string; readonly deliveries: Set<Delivery> }>()
  const consuming = new Set<object>()
  return {
    of: (source) =>
      [...held.values()]
        .filter((one) => one.source === source)
        .reduce((sum, { deliveries }) => sum + deliveries.size, 0),
    async noticed() {
      const before = [...consuming]
      const deadline = performance.now() + 1000
      while (before.some((token) => consuming.has(token)) && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 1))
    },
    watch: (transport) => ({
      ...transport,
      consumer: {
        async subscribe(options, onDelivery) {
          const deliveries = new Set<Delivery>()
          const token = {}
          held.set(token, { source: options.source, deliveries })
          const subscription = await transport.consumer.subscribe(
            {
              ...options,
              onStateChange(state) {
                if (state === 'consuming') consuming.add(token)
                else consuming.delete(token)
                if (state !== 'consuming' && state !== 'paused') deliveries.clear()
                options.onStateChange?.(state)
              },
            },
            (delivery) => {
              deliveries.add(delivery)
              const settling = <T>(result: Promise<T>): Promise<T> => {
                deliveries.delete(delivery)
                return result
              }
              try {
                onDelivery({
                  ...delivery,
                  accept: () => settling(delivery.accept()),
                  discard: (how) => settling(delivery.discard(how)),
                  returnToQueue: (how) => settling(delivery.returnToQueue(how)),
                })
              } catch (error) {
                // The transport gives it back itself.
                deliveries.delete(delivery)
                throw error
              }
            },
          )
          return subscription
        },
      },
      [Symbol.asyncDispose]: () => transport.close(),
    }),
  }
}
