/** A message of the toy broker. */
export interface ToyMessage {
  readonly id: string
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  deliveries: number
}

/** A consumer of the toy broker: `onEnd` says whether its connection is gone, or only its consumption. */
export interface ToyConsumer {
  readonly queue: string
  readonly credit: number
  readonly onMessage: (message: ToyMessage) => void
  readonly onEnd: (why: 'disconnected' | 'cancelled') => void
}

/** What a client library of the toy broker offers. */
export interface ToyBroker {
  send(queue: string, message: ToyMessage): 'taken' | 'no such queue'
  has(queue: string): boolean
  /** Starts a consumer, or starts a stopped one again. */
  consume(consumer: ToyConsumer): void
  /** Ends its consumption; messages it holds stay settleable. */
  stopConsumer(consumer: ToyConsumer): void
  /** Gives its unsettled messages back. */
  endConsumer(consumer: ToyConsumer): void
  settle(consumer: ToyConsumer, message: ToyMessage, how: 'done' | 'back'): void
  declare(queue: string): void
  remove(queue: string): void
  count(queue: string): number
  cut(): void
  cancel(queue: string): void
}

interface ToyQueue {
  readonly ready: ToyMessage[]
  readonly consumers: Map<ToyConsumer, { readonly held: Set<ToyMessage>; active: boolean }>
}

/** Starts a toy broker. */
export function createToyBroker(): ToyBroker {
  const queues = new Map<string, ToyQueue>()
  const push = (queue: ToyQueue): void => {
    queueMicrotask(() => {
      for (const [consumer, state] of queue.consumers) {
        while (state.active && state.held.size < consumer.credit) {
          const message = queue.ready.shift()
          if (message === undefined) return
          message.deliveries += 1
          state.held.add(message)
          consumer.onMessage(message)
        }
      }
    })
  }
  const end = (queue: ToyQueue, consumer: ToyConsumer): void => {
    queue.ready.unshift(...(queue.consumers.get(consumer)?.held ?? []))
    queue.consumers.delete(consumer)
    push(queue)
  }
  const endAll = (queue: ToyQueue | undefined, why: 'disconnected' | 'cancelled'): void => {
    for (const [consumer, state] of [...(queue?.consumers ?? [])]) {
      if (why === 'cancelled') state.active = false
      else if (queue !== undefined) end(queue, consumer)
      consumer.onEnd(why)
    }
  }
  return {
    send(name, message) {
      const queue = queues.get(name)
      if (queue === undefined) return 'no such queue'
      queue.ready.push(message)
      push(queue)
      return 'taken'
    },
    has: (name) => queues.has(name),
    consume(consumer) {
      const queue = queues.get(consumer.queue)
      if (queue === undefined) return
      const held = queue.consumers.get(consumer)?.held ?? new Set()
      queue.consumers.set(consumer, { held, active: true })
      push(queue)
    },
    stopConsumer(consumer) {
      const state = queues.get(consumer.queue)?.consumers.get(consumer)
      if (state !== undefined) state.active = false
    },
    endConsumer(consumer) {
      const queue = queues.get(consumer.queue)
      if (queue !== undefined) end(queue, consumer)
    },
    settle(consumer, message, how) {
      const queue = queues.get(consumer.queue)
      if (queue?.consumers.get(consumer)?.held.delete(message) !== true) return
      if (how === 'back') queue.ready.unshift(message)
      push(queue)
    },
    declare(name) {
      queues.set(name, { ready: [], consumers: new Map() })
    },
    remove(name) {
      const queue = queues.get(name)
      queues.delete(name)
      endAll(queue, 'cancelled')
    },
    count: (name) => queues.get(name)?.ready.length ?? 0,
    cut() {
      for (const queue of queues.values()) endAll(queue, 'disconnected')
    },
    cancel(name) {
      endAll(queues.get(name), 'cancelled')
    },
  }
}
