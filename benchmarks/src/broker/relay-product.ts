import type { Transport } from '@litebus/core'
import { createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import { payload } from '../harness/payloads.ts'
import { contractName, type OwnSide, type RelayRound } from './broker-round.ts'

/** Outbox, engine, transport. */
export async function relayProduct(round: RelayRound, transport: Transport): Promise<OwnSide> {
  const { databaseUrl, queue, kind, messages, batch } = round
  const storage = postgresStorage({ connection: databaseUrl, schema: `product_${kind}` })
  await storage.schema.migrate()
  await transport.probe(queue.name)
  let processor: ReturnType<typeof createOutboxProcessor> | undefined
  return {
    name: `product, ${kind}`,
    async prepare() {
      await queue.purge()
      for (let from = 0; from < messages; from += 1000) {
        await storage.outbox.append(
          Array.from({ length: Math.min(1000, messages - from) }, (_, offset) => ({
            id: crypto.randomUUID(),
            contractName,
            contractVersion: 1,
            topic: queue.name,
            body: Buffer.from(payload(kind, from + offset)),
          })),
        )
      }
    },
    async run() {
      let settled = 0
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      const { outbox } = storage
      processor = createOutboxProcessor({
        store: {
          ...outbox,
          async settle(outcomes, options) {
            const results = await outbox.settle(outcomes, options)
            settled += results.length
            if (settled >= messages) resolve(undefined)
            return results
          },
        },
        transport,
        batchSize: batch,
      })
      processor.start()
      await done
      return messages
    },
    async end() {
      await processor?.stop()
    },
    async [Symbol.asyncDispose]() {
      await transport.close()
      await storage.close()
    },
  }
}
