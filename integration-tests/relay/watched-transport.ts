import type { Delivery, PublishOutcome, Subscription, Transport } from '@litebus/core'

/** A transport that keeps the books of a test: what was sent, what came, and what was open when the wire broke. */
export interface WatchedTransport {
  /** The transport to use. */
  readonly transport: Transport
  /** Deliveries by message id. */
  readonly deliveries: ReadonlyMap<string, number>
  /** Confirmed publishes. */
  readonly confirmed: number
  /** Publishes that were sent and whose answer never came: each of them may be a second copy. */
  readonly unanswered: number
  /** What was open at each loss of the consuming connection. */
  readonly losses: readonly Loss[]
  /** Deliveries that the broker itself marks as delivered before. */
  readonly redelivered: number
  /** The subscription of the consumer. */
  readonly subscription: Subscription | undefined
  /** Resolves in the middle of a publish, after so many were confirmed. */
  reached(confirmed: number): Promise<void>
}

/** A loss of the consuming connection. */
interface Loss {
  /** Deliveries handed out and not known to be settled. */
  readonly held: number
  /** Deliveries marked as redelivered until then. */
  readonly redelivered: number
}

/** Watches a transport with one subscription. */
export function watchTransport(inner: Transport): WatchedTransport {
  const deliveries = new Map<string, number>()
  const losses: Loss[] = []
  const held = new Set<Delivery>()
  let waiting: { readonly at: number; readonly wake: () => void } | undefined
  let confirmed = 0
  let unanswered = 0
  let redelivered = 0
  let subscription: Subscription | undefined

  const count = (outcomes: readonly PublishOutcome[]): void => {
    for (const { status } of outcomes) {
      if (status === 'confirmed') confirmed += 1
      if (status === 'ambiguous') unanswered += 1
    }
  }
  const watchDelivery = (delivery: Delivery): Delivery => {
    const id = delivery.message.messageId ?? ''
    deliveries.set(id, (deliveries.get(id) ?? 0) + 1)
    if (delivery.redelivered) redelivered += 1
    held.add(delivery)
    return {
      ...delivery,
      async accept() {
        const result = await delivery.accept()
        if (result === 'settled') held.delete(delivery)
        return result
      },
    }
  }
  const transport: Transport = {
    ...inner,
    publisher: {
      async publish(messages, options) {
        const publishing = inner.publisher.publish(messages, options)
        if (waiting !== undefined && confirmed >= waiting.at) {
          waiting.wake()
          waiting = undefined
        }
        const outcomes = await publishing
        count(outcomes)
        return outcomes
      },
    },
    consumer: {
      async subscribe(options, onDelivery) {
        subscription = await inner.consumer.subscribe(
          {
            ...options,
            onStateChange(state) {
              if (state === 'recovering') {
                losses.push({ held: held.size, redelivered })
                held.clear()
              }
              options.onStateChange?.(state)
            },
          },
          (delivery) => {
            onDelivery(watchDelivery(delivery))
          },
        )
        return subscription
      },
    },
    [Symbol.asyncDispose]: () => inner.close(),
  }
  return {
    transport,
    deliveries,
    losses,
    get confirmed() {
      return confirmed
    },
    get unanswered() {
      return unanswered
    },
    get redelivered() {
      return redelivered
    },
    get subscription() {
      return subscription
    },
    reached: (at) =>
      new Promise((resolve) => {
        waiting = { at, wake: resolve }
      }),
  }
}
