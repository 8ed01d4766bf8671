import type { Delivery, SubscribeOptions, Subscription, Transport } from '@litebus/core'

/** Replaces parts of a transport. */
export function wrapTransport(base: Transport, parts: Partial<Transport>): Transport {
  return {
    system: base.system,
    capabilitiesOf: (destination) => base.capabilitiesOf(destination),
    publisher: base.publisher,
    consumer: base.consumer,
    probe: (destination) => base.probe(destination),
    close: () => base.close(),
    [Symbol.asyncDispose]: () => base.close(),
    ...parts,
  }
}

/** Replaces the publisher. */
export function withPublish(
  base: Transport,
  publish: (
    ...args: Parameters<Transport['publisher']['publish']>
  ) => ReturnType<Transport['publisher']['publish']>,
): Transport {
  return wrapTransport(base, { publisher: { publish } })
}

/** Replaces each delivery on its way to the receiver. */
export function withDelivery(base: Transport, change: (delivery: Delivery) => Partial<Delivery>): Transport {
  return withSubscribe(base, (options, onDelivery) =>
    base.consumer.subscribe(options, (delivery) => {
      onDelivery({ ...delivery, ...change(delivery) })
    }),
  )
}

/** Replaces the consumer. */
export function withSubscribe(
  base: Transport,
  subscribe: (options: SubscribeOptions, onDelivery: (delivery: Delivery) => void) => Promise<Subscription>,
): Transport {
  return wrapTransport(base, { consumer: { subscribe } })
}

/** Replaces parts of each subscription. */
export function withSubscription(
  base: Transport,
  change: (subscription: Subscription) => Partial<Subscription>,
): Transport {
  return withSubscribe(base, async (options, onDelivery) => {
    const subscription = await base.consumer.subscribe(options, onDelivery)
    return {
      get state() {
        return subscription.state
      },
      pause: () => subscription.pause(),
      resume: () => subscription.resume(),
      stop: (budget) => subscription.stop(budget),
      ...change(subscription),
    }
  })
}

/** A transport with one fault, and the cases that must notice it. */
export interface BrokenTransport {
  /** What is wrong with it. */
  readonly fault: string
  /** Puts the fault in; called for each transport that a case opens. */
  readonly breakIt: (base: Transport) => Transport
  /** Titles of the cases that fail, with their concern. */
  readonly noticedBy: readonly string[]
}

/** Resolves later, without keeping a process alive. */
export function later(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs).unref()
  })
}
