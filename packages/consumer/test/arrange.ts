import { manualClock, type ManualClock } from '@litebus/conformance'
import {
  defineContract,
  defineHandler,
  type HandlerContext,
  type HandlerReturn,
  type HeaderValue,
  type InboundMessage,
  type LogFields,
  type Logger,
} from '@litebus/core'
import {
  memoryBroker,
  memoryTransport,
  type MemoryBroker,
  type MemoryQueueOptions,
  type StoredMessage,
} from '@litebus/transport-memory'
import { createConsumer, type Consumer, type ConsumerOptions } from '../src/index.ts'

export interface Order {
  readonly id: string
}
export const orderPlaced = defineContract<Order>({ name: 'order-placed', version: 1 })

export const contractHeaders: Readonly<Record<string, string>> = {
  'litebus-contract-name': 'order-placed',
  'litebus-contract-version': '1',
}

type Handle = (order: Order, context: HandlerContext) => HandlerReturn

/** What a test publishes: everything but the parts that it cares about has a default. */
export type Sent = Partial<Omit<InboundMessage, 'destination' | 'headers'>> & {
  readonly headers?: Readonly<Record<string, HeaderValue>>
}

interface Logged {
  readonly message: string
  readonly fields: LogFields
}

export interface Bench {
  readonly clock: ManualClock
  readonly broker: MemoryBroker
  readonly transport: ReturnType<typeof memoryTransport>
  readonly logged: Logged[]
  readonly seen: { readonly order: Order; readonly context: HandlerContext }[]
  readonly consumer: (handle: Handle, options?: Partial<ConsumerOptions>) => Consumer
  /** Puts messages into the source as a broker may hold them: any header type, no id. */
  readonly put: (...messages: readonly Sent[]) => void
  /** Puts orders with ids of these names. */
  readonly order: (...ids: readonly string[]) => void
  /** What waits in a queue. */
  readonly waiting: (queue: string) => readonly StoredMessage['message'][]
}

export function bench(queues: readonly MemoryQueueOptions[] = []): Bench {
  const clock = manualClock()
  const defaults = [{ name: 'orders' }, { name: 'orders.dead' }, { name: 'orders.retry' }]
  const named = new Set(queues.map(({ name }) => name))
  const broker = memoryBroker({
    clock,
    queues: [...queues, ...defaults.filter(({ name }) => !named.has(name))],
  })
  const transport = memoryTransport({ broker })
  const seen: Bench['seen'] = []
  const logged: Logged[] = []
  const log = (message: string, fields: LogFields = {}): void => {
    logged.push({ message, fields })
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  let sequence = 1_000_000
  const put: Bench['put'] = (...messages) => {
    for (const { headers, body, ...rest } of messages) {
      sequence += 1
      broker.internals.queue('orders')?.put({
        sequence,
        deliveries: 0,
        message: {
          body: body ?? new TextEncoder().encode('{"id":"1"}'),
          headers: headers ?? contractHeaders,
          ...rest,
        },
      })
    }
  }
  return {
    clock,
    broker,
    transport,
    logged,
    seen,
    put,
    order: (...ids) => {
      put(...ids.map((id) => ({ messageId: id, body: new TextEncoder().encode(JSON.stringify({ id })) })))
    },
    consumer(handle, options = {}) {
      const handler = defineHandler({
        contract: orderPlaced,
        handle(order, context) {
          seen.push({ order, context })
          return handle(order, context)
        },
      })
      return createConsumer({
        transport,
        source: 'orders',
        handlers: [handler],
        retry: { deadLetterDestination: 'orders.dead' },
        clock,
        logger,
        random: () => 0.5,
        ...options,
      })
    },
    waiting: (queue) => (broker.internals.queue(queue)?.peek() ?? []).map(({ message }) => message),
  }
}

export const done = (): undefined => undefined

/** A promise that a test resolves. */
export function gate(): { readonly promise: Promise<undefined>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    promise,
    open: () => {
      resolve(undefined)
    },
  }
}
