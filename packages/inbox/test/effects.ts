import { uuidV7 } from '@litebus/core'
import type { MemoryStorage, MemoryTransaction } from '@litebus/storage-memory'

/** Writes an effect into the same storage, as a handler does that inserts a row of its own. */
export function createOutboxWriter(
  storage: MemoryStorage,
): (name: string, transaction: MemoryTransaction) => Promise<unknown> {
  return (name, transaction) =>
    storage.outbox.append(
      [{ id: uuidV7(), contractName: 'effect', contractVersion: 1, body: new TextEncoder().encode(name) }],
      { transaction },
    )
}

/** Names of the effects that were committed. */
export async function effects(storage: MemoryStorage): Promise<string[]> {
  const { records } = await storage.outbox.query({})
  return records.map(({ message }) => new TextDecoder().decode(message.body))
}
