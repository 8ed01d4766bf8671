import { manualClock, type ManualClock } from '@litebus/conformance'
import {
  defineContract,
  noTelemetry,
  type HeaderValue,
  type InboundMessage,
  type Inbox,
  type InboxReceipt,
  type LogFields,
  type Logger,
  type MessageRecord,
} from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '@litebus/storage-memory'
import {
  memoryBroker,
  memoryTransport,
  type MemoryBroker,
  type MemoryQueueOptions,
  type StoredMessage,
} from '@litebus/transport-memory'
import { createIngress, type Ingress, type IngressOptions } from '../src/index.ts'

export interface Order {
  readonly id: string
}

/** A contract whose schema wants an id, and never says what it found. */
export const orderPlaced = defineContract<Order>({
  name: 'order-placed',
  version: 1,
  schema: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        typeof (value as Partial<Order> | null)?.id === 'string'
          ? { value: value as Order }
          : { issues: [{ message: 'no id', path: ['id'] }] },
    },
  },
})

export const contractHeaders: Readonly<Record<string, string>> = {
  'litebus-contract-name': 'order-placed',
  'litebus-contract-version': '1',
}

/** What a test delivers: everything but the parts that it cares about has a default. */
export type Sent = Partial<Omit<InboundMessage, 'destination' | 'headers'>> & {
  readonly headers?: Readonly<Record<string, HeaderValue>>
}

interface Logged {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** Lets a test stand between ingress and inbox: what it throws is what the store throws. */
type Before = (ids: readonly string[]) => Promise<void> | void

export interface Bench {
  readonly clock: ManualClock
  readonly storage: MemoryStorage
  readonly broker: MemoryBroker
  readonly logged: Logged[]
  readonly counted: Map<string, number>
  readonly events: () => (number | string)[]
  readonly ingress: (options?: Partial<IngressOptions>) => Ingress
  /** Called before each write of the inbox. */
  before: Before
  readonly put: (...messages: readonly Sent[]) => void
  /** Puts valid orders with ids of these names. */
  readonly order: (...ids: readonly string[]) => void
  readonly waiting: (queue: string) => readonly StoredMessage['message'][]
  readonly rows: () => Promise<readonly MessageRecord[]>
}

export function bench(queues: readonly MemoryQueueOptions[] = []): Bench {
  const clock = manualClock()
  const storage = memoryStorage({ clock })
  const named = new Set(queues.map(({ name }) => name))
  const defaults = [{ name: 'billing' }, { name: 'billing.dead' }]
  const broker = memoryBroker({
    clock,
    queues: [...queues, ...defaults.filter(({ name }) => !named.has(name))],
  })
  const transport = memoryTransport({ broker })
  const stored = createInbox({ store: storage.inbox, contracts: [orderPlaced] })
  const logged: Logged[] = []
  const counted = new Map<string, number>()
  const log =
    (level: Logged['level']) =>
    (message: string, fields: LogFields = {}): void => {
      logged.push({ level, message, fields })
    }
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  let sequence = 1_000_000
  const put: Bench['put'] = (...messages) => {
    for (const { headers, body, ...rest } of messages) {
      sequence += 1
      broker.internals.queue('billing')?.put({
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
  const parts: Bench = {
    clock,
    storage,
    broker,
    logged,
    counted,
    before: () => undefined,
    events: () =>
      logged.flatMap(({ fields: { eventId } }) => (eventId === undefined ? [] : [Number(eventId)])),
    put,
    order: (...ids) => {
      put(...ids.map((id) => ({ messageId: id, body: new TextEncoder().encode(JSON.stringify({ id })) })))
    },
    waiting: (queue) => (broker.internals.queue(queue)?.peek() ?? []).map(({ message }) => message),
    rows: async () => (await storage.inbox.query({ limit: 1000 })).records,
    ingress: (options = {}) =>
      createIngress({
        transport,
        source: 'billing',
        inbox: watched(stored, parts),
        contracts: [orderPlaced],
        requeueBackoff: { jitter: 'none' },
        clock,
        logger,
        random: () => 0.5,
        telemetry: {
          ...noTelemetry,
          count({ name }, value) {
            counted.set(name, (counted.get(name) ?? 0) + value)
          },
        },
        ...options,
      }),
  }
  return parts
}

function watched(inbox: Inbox<MemoryTransaction>, parts: Bench): Inbox<never> {
  return {
    async accept(contract, message, options): Promise<InboxReceipt> {
      await parts.before([options?.sourceId ?? ''])
      return inbox.accept(contract, message, options)
    },
    async acceptBatch(items): Promise<readonly InboxReceipt[]> {
      await parts.before(items.map(({ options }) => options?.sourceId ?? ''))
      return inbox.acceptBatch(items)
    },
  }
}

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
