import { defineContract, defineHandler } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { postgresStorage, type PostgresStorage } from '@litebus/storage-postgres'
import type { Side } from '../harness/benchmark.ts'
import { payload } from '../harness/payloads.ts'
import type { StoreRound } from './floor-side.ts'

const contract = defineContract<unknown>({ name: 'order-placed', version: 1 })

/** What a product round does beyond the floor's. */
export interface ProductRound extends StoreRound {
  /** Ordering keys; absent: unordered. */
  readonly keys?: number
  /** Schema of its own. */
  readonly schema?: string
}

/** The engine on PostgreSQL with a handler that does nothing. */
export async function productSide(
  round: ProductRound,
): Promise<Side & { readonly storage: PostgresStorage } & AsyncDisposable> {
  const { databaseUrl, kind, messages, batch, keys, schema = 'product' } = round
  const storage = postgresStorage({ connection: databaseUrl, schema })
  await storage.schema.migrate()
  return {
    name: `product, ${kind}${keys === undefined ? '' : `, ${String(keys)} keys`}`,
    storage,
    prepare: () => fill(storage, round),
    async run() {
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let handled = 0
      const processor = createInboxProcessor({
        store: storage.inbox,
        handlers: [
          defineHandler({
            contract,
            handle: () => {
              handled += 1
              if (handled === messages) resolve(undefined)
              return undefined
            },
          }),
        ],
        batchSize: batch,
        concurrency: batch,
      })
      processor.start()
      await done
      // Everything is handled; the pause ends when it is settled, too.
      await processor.pause()
      await processor.stop()
      return messages
    },
    [Symbol.asyncDispose]: () => storage.close(),
  }
}

/** Appends the messages of a round; not timed. */
export async function fill(
  storage: PostgresStorage,
  { kind, messages, keys }: Pick<ProductRound, 'kind' | 'messages' | 'keys'>,
): Promise<void> {
  for (let from = 0; from < messages; from += 1000) {
    const size = Math.min(1000, messages - from)
    await storage.inbox.append(
      Array.from({ length: size }, (_, offset) => ({
        id: crypto.randomUUID(),
        contractName: contract.name,
        contractVersion: contract.version,
        body: Buffer.from(payload(kind, from + offset)),
        ...(keys === undefined ? {} : { orderingKey: `key-${String((from + offset) % keys)}` }),
      })),
    )
  }
}
