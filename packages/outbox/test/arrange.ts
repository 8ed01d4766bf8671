import { manualClock, type ManualClock } from '@litebus/conformance'
import {
  defineContract,
  type LogFields,
  type Logger,
  type OutboundMessage,
  type PublishOutcome,
  type Transport,
} from '@litebus/core'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '@litebus/storage-memory'
import {
  memoryBroker,
  memoryTransport,
  type MemoryBroker,
  type MemoryQueueOptions,
  type StoredMessage,
} from '@litebus/transport-memory'
import type { Processor } from '@litebus/processing'
import { createOutbox, createOutboxProcessor, type OutboxProcessorOptions } from '../src/index.ts'

export interface Order {
  readonly id: string
}
export const orderPlaced = defineContract<Order>({ name: 'orders', version: 1 })

export interface Bench {
  readonly clock: ManualClock
  readonly storage: MemoryStorage
  readonly broker: MemoryBroker
  /** The memory transport with what was published and asked, call by call. */
  readonly transport: Transport & {
    readonly calls: (readonly OutboundMessage[])[]
    readonly probes: string[]
  }
  readonly outbox: ReturnType<typeof createOutbox<MemoryTransaction>>
  readonly logged: { readonly message: string; readonly fields: LogFields }[]
  readonly relay: (options?: Partial<OutboxProcessorOptions<MemoryTransaction>>) => Processor
  readonly waiting: (queue: string) => readonly StoredMessage['message'][]
  /** State and attempts of a row. */
  readonly stands: (id: string) => Promise<string>
}

export function bench(
  queues: readonly MemoryQueueOptions[] = [{ name: 'orders' }, { name: 'other' }],
): Bench {
  const clock = manualClock()
  const storage = memoryStorage({ clock })
  const broker = memoryBroker({ clock, queues })
  const transport = watched(memoryTransport({ broker, reconnectDelayMs: 500 }))
  const logged: Bench['logged'] = []
  const log = (message: string, fields: LogFields = {}): void => {
    logged.push({ message, fields })
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  return {
    clock,
    storage,
    broker,
    transport,
    logged,
    outbox: createOutbox({ store: storage.outbox, contracts: [orderPlaced] }),
    relay: (options = {}) =>
      createOutboxProcessor({
        store: storage.outbox,
        ...(options.dispatcher === undefined ? { transport } : {}),
        clock,
        logger,
        random: () => 0.5,
        backoff: { jitter: 'none' },
        ...options,
      }),
    waiting: (queue) => (broker.internals.queue(queue)?.peek() ?? []).map(({ message }) => message),
    stands: async (id) => {
      const record = await storage.outbox.get(id)
      return `${String(record?.state)} ${String(record?.attempts)}`
    },
  }
}

function watched(transport: Transport): Bench['transport'] {
  const calls: (readonly OutboundMessage[])[] = []
  const probes: string[] = []
  return {
    ...transport,
    calls,
    probes,
    publisher: {
      publish(messages, options) {
        calls.push(messages)
        return transport.publisher.publish(messages, options)
      },
    },
    probe(destination) {
      probes.push(destination ?? '')
      return transport.probe(destination)
    },
  }
}

/** A transport whose publisher answers as a test says. */
export function answering(
  transport: Transport,
  answer: (message: OutboundMessage, call: number) => PublishOutcome,
): Transport {
  let call = 0
  return {
    ...transport,
    publisher: {
      publish(messages) {
        call += 1
        return Promise.resolve(messages.map((message) => answer(message, call)))
      },
    },
  }
}

export const id = (number: number): string => `0198c0de-0000-7000-8000-${String(number).padStart(12, '0')}`
