import type { Delivery, SubscribeOptions, Subscription, Transport } from '@litebus/core'
import { eventually } from './eventually.ts'

/** A subscription with all that it was handed, in order. */
export interface Receiver {
  /** The subscription. */
  readonly subscription: Subscription
  /** Deliveries in the order in which they came. */
  readonly deliveries: readonly Delivery[]
  /** Their message ids; the empty string for none. */
  ids(): readonly string[]
  /** Waits until so many deliveries came, and returns the last of them. */
  nth(count: number): Promise<Delivery>
}

/** How a receiver receives. */
export interface ReceiverOptions extends Partial<Omit<SubscribeOptions, 'source'>> {
  /** What to do with each delivery. @defaultValue nothing: it is held */
  readonly handle?: (delivery: Delivery) => void
}

/** Accepts whatever comes. */
export function accepting(delivery: Delivery): void {
  void delivery.accept()
}

/** Subscribes; the transport's disposal stops it. */
export async function receive(
  transport: Transport,
  source: string,
  { handle, ...options }: ReceiverOptions = {},
): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const subscription = await transport.consumer.subscribe(
    { source, maxInFlight: 10, ...options },
    (delivery) => {
      deliveries.push(delivery)
      handle?.(delivery)
    },
  )
  return {
    subscription,
    deliveries,
    ids: () => deliveries.map(({ message }) => message.messageId ?? ''),
    async nth(count) {
      await eventually(`${String(count)} deliveries from ${source}, of which`, () => deliveries.length, {
        until: (found) => found >= count,
      })
      const found = deliveries[count - 1]
      if (found === undefined) throw new Error('unreachable: the delivery was counted')
      return found
    },
  }
}
