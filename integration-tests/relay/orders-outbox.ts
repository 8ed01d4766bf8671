import { defineContract, type MessageRecord, type Outbox } from '@litebus/core'
import { createOutbox } from '@litebus/outbox'
import { postgresStorage, type PostgresStorage } from '@litebus/storage-postgres'
import type { PostgresService } from '../services/index.ts'

/** What the tests of relays enqueue. */
export interface Order {
  readonly number: number
}
export const orderPlaced = defineContract<Order>({ name: 'orders', version: 1 })

/** An outbox in a database of its own. */
export interface OrdersOutbox extends AsyncDisposable {
  readonly storage: PostgresStorage
  readonly outbox: Outbox<never>
  /** Where a message stands: state, attempts and the codes of its failures. */
  stands(id: string): Promise<string>
  /** The same of all messages of a topic, each text once. */
  allStand(topic: string): Promise<readonly string[]>
}

/** Opens it; everything ends with it. */
export async function openOrdersOutbox(postgres: PostgresService): Promise<OrdersOutbox> {
  const resources = new AsyncDisposableStack()
  try {
    const database = resources.use(await postgres.createDatabase())
    const storage = resources.adopt(postgresStorage({ connection: database.url }), (opened) => opened.close())
    await storage.schema.migrate()
    return {
      storage,
      outbox: createOutbox({ store: storage.outbox, contracts: [orderPlaced] }),
      stands: async (id) => textOf(await storage.outbox.get(id)),
      async allStand(topic) {
        const { records } = await storage.outbox.query({ limit: 1000 })
        return [...new Set(records.filter(({ message }) => message.topic === topic).map(textOf))]
      },
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    }
  } catch (error) {
    await resources.disposeAsync()
    throw error
  }
}

function textOf(record: MessageRecord | undefined): string {
  if (record === undefined) return 'missing'
  // What succeeded is remembered in a narrow table, without its attempts.
  if (record.state === 'succeeded') return 'succeeded'
  return [record.state, String(record.attempts), ...record.failures.map(({ code }) => code)].join(' ')
}
