import { manualClock, type ManualClock } from '@litebus/conformance'
import {
  defineContract,
  uuidV7,
  type AnyMessageHandler,
  type Inbox,
  type MessageContract,
  type MessageRecord,
  type NewMessage,
} from '@litebus/core'
import type { Processor } from '@litebus/processing'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '@litebus/storage-memory'
import { createInbox, createInboxProcessor, type InboxProcessorOptions } from '../src/index.ts'

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

export interface Bench {
  readonly clock: ManualClock
  readonly storage: MemoryStorage
  readonly inbox: Inbox<MemoryTransaction>
  readonly processor: (
    handlers: readonly AnyMessageHandler<MemoryTransaction>[],
    options?: Partial<InboxProcessorOptions<MemoryTransaction>>,
  ) => Processor
  /** Stores bytes without a writer, as an older version of the service has written them. */
  readonly store: (body: unknown, more?: Partial<NewMessage>) => Promise<string>
  readonly rows: () => Promise<readonly MessageRecord[]>
  readonly row: (id: string) => Promise<MessageRecord | undefined>
}

export function bench(contracts: readonly MessageContract<unknown>[] = [orderPlaced]): Bench {
  const clock = manualClock()
  const storage = memoryStorage({ clock })
  return {
    clock,
    storage,
    inbox: createInbox({ store: storage.inbox, contracts }),
    processor: (handlers, options = {}) =>
      createInboxProcessor({
        store: storage.inbox,
        handlers,
        clock,
        random: () => 0.5,
        backoff: { jitter: 'none' },
        ...options,
      }),
    async store(body, more = {}) {
      const id = uuidV7()
      const bytes = new TextEncoder().encode(JSON.stringify(body))
      await storage.inbox.append([
        { id, contractName: 'order-placed', contractVersion: 1, body: bytes, ...more },
      ])
      return id
    },
    rows: async () => (await storage.inbox.query({ limit: 1000 })).records,
    row: (id) => storage.inbox.get(id),
  }
}
