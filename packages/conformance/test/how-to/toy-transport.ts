import {
  createDeadline,
  createDeliveryLedger,
  publishFailures,
  publishInKeyOrder,
  TopologyMismatchError,
  TransportClosedError,
  type DeliveryFacts,
  type OutboundMessage,
  type PublishOutcome,
  type SendResult,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionState,
  type Transport,
  type TransportCapabilities,
  systemClock,
} from '@litebus/core'
import type { ToyBroker, ToyConsumer, ToyMessage } from './toy-broker.ts'

const capabilities: TransportCapabilities = {
  orderedStream: false,
  pausable: false,
  delayedDelivery: false,
  maxDelayMs: 0,
  nativeDeadLetter: false,
  perMessageAck: true,
  deliveryCount: true,
  batchPublish: false,
  maxBatchMessages: 1,
  maxBatchBytes: 2 ** 20 + 2 ** 16,
  maxMessageBytes: 2 ** 20 + 2 ** 16,
  binaryBody: true,
  deduplication: false,
  sessions: false,
}

const missing = (name: string): TopologyMismatchError =>
  new TopologyMismatchError(`expected a queue named ${name}, found none; declare it first`)

/** A transport for the toy broker. */
export function toyTransport(broker: ToyBroker): Transport {
  const subscriptions = new Set<Subscription>()
  let closed = false

  const send = (message: OutboundMessage, signal?: AbortSignal): PublishOutcome => {
    const names = Object.keys(message.headers)
    if (names.some((name) => name.length > 255)) return rejected('headerInvalid')
    if (message.body.byteLength > capabilities.maxMessageBytes) return rejected('messageTooLarge')
    if ((message.delayMs ?? 0) > 0) return rejected('delayUnsupported')
    if (closed) return { status: 'unavailable', failure: publishFailures.closed }
    if (signal?.aborted === true) return { status: 'unavailable', failure: publishFailures.cancelled }
    const taken = broker.send(message.destination, {
      id: message.messageId,
      body: Uint8Array.from(message.body),
      headers: { ...message.headers },
      contentType: message.contentType ?? 'application/json',
      deliveries: 0,
    })
    return taken === 'taken' ? { status: 'confirmed' } : rejected('unroutable')
  }

  const close = async (): Promise<void> => {
    closed = true
    await Promise.all([...subscriptions].map((subscription) => subscription.stop({ budgetMs: 0 })))
  }

  return {
    system: 'toy',
    capabilitiesOf: () => capabilities,
    publisher: {
      publish: (messages, { signal } = {}) =>
        publishInKeyOrder(messages, (message, answer) => {
          answer(send(message, signal))
        }),
    },
    consumer: {
      async subscribe(options, onDelivery) {
        if (closed) throw new TransportClosedError('the toy transport was closed')
        if (options.maxInFlight < 1) throw new RangeError('expected maxInFlight to be at least 1')
        if (!broker.has(options.source)) throw missing(options.source)
        const subscription = subscribe(broker, options, onDelivery)
        subscriptions.add(subscription)
        return Promise.resolve(subscription)
      },
    },
    async probe(destination) {
      await Promise.resolve()
      if (closed) throw new TransportClosedError('the toy transport was closed')
      if (destination !== undefined && !broker.has(destination)) throw missing(destination)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function rejected(why: keyof typeof publishFailures): PublishOutcome {
  return { status: 'rejected', failure: publishFailures[why] }
}

/** A delivery belongs to the consumer that got it: after a reconnect there is another one. */
interface Ref {
  readonly consumer: ToyConsumer
  readonly message: ToyMessage
}

function subscribe(
  broker: ToyBroker,
  options: SubscribeOptions,
  onDelivery: Parameters<Transport['consumer']['subscribe']>[1],
): Subscription {
  const { source } = options
  let state: SubscriptionState = 'recovering'
  let consumer: ToyConsumer
  let stopping: Promise<{ readonly unsettled: number }> | undefined
  const deadline = createDeadline(systemClock)

  const settle = ({ consumer: of, message }: Ref, how: 'done' | 'back'): Promise<SendResult> => {
    broker.settle(of, message, how)
    return Promise.resolve('settled')
  }
  // The ledger keeps the promises that are the same for every broker: the cap, the one-shot authority, revocation.
  const ledger = createDeliveryLedger<Ref>({
    maxInFlight: options.maxInFlight,
    clock: systemClock,
    onDelivery,
    onFault: () => undefined,
    onRevoked: options.onRevoked,
    driver: {
      accept: (ref) => settle(ref, 'done'),
      returnToQueue: (ref) => settle(ref, 'back'),
      discard: (ref) => settle(ref, 'done'),
    },
  })
  const move = (next: SubscriptionState): void => {
    if (state === next || state === 'stopped' || state === 'failed') return
    state = next
    options.onStateChange?.(next)
  }

  const connect = (): ToyConsumer => {
    const current: ToyConsumer = {
      queue: source,
      credit: options.prefetch ?? options.maxInFlight,
      onMessage: (message) => {
        ledger.add({ consumer: current, message }, factsOf(source, message))
      },
      onEnd: (why) => {
        // What a lost connection delivered can no longer be settled; a cancelled consumer still settles.
        if (why === 'disconnected') {
          ledger.revokeAll()
          consumer = connect()
        }
        if (state === 'paused') return
        move('recovering')
        queueMicrotask(consume)
      },
    }
    return current
  }

  const consume = (): void => {
    if (state !== 'recovering' || stopping !== undefined) return
    if (!broker.has(source)) {
      move('failed')
      options.onFailure?.(missing(source))
      return
    }
    broker.consume(consumer)
    move('consuming')
  }

  const stop = async (): Promise<{ readonly unsettled: number }> => {
    broker.stopConsumer(consumer)
    for (const ref of ledger.close()) void settle(ref, 'back')
    await ledger.settled(deadline.signal)
    deadline.end()
    const unsettled = ledger.revokeAll()
    broker.endConsumer(consumer)
    move('stopped')
    return { unsettled }
  }

  consumer = connect()
  consume()
  return {
    get state() {
      return state
    },
    async pause() {
      await Promise.resolve()
      broker.stopConsumer(consumer)
      ledger.pause()
      move('paused')
    },
    async resume() {
      await Promise.resolve()
      if (state !== 'paused') return
      move('recovering')
      ledger.resume()
      consume()
    },
    stop({ budgetMs }) {
      // Called again, it may bring the end forward.
      deadline.within(budgetMs)
      return (stopping ??= stop())
    },
  }
}

function factsOf(source: string, { id, body, headers, contentType, deliveries }: ToyMessage): DeliveryFacts {
  return {
    message: { destination: source, messageId: id, body, headers, contentType },
    deliveryId: id,
    redelivered: deliveries > 1,
    deliveryCount: deliveries,
  }
}
