/* A consumer in a process of its own, which handles each message once and dies at a step of that. */
import { createConsumer } from '@litebus/consumer'
import { defineHandler, type DedupStore } from '@litebus/core'
import { postgresStorage, type PostgresTransaction } from '@litebus/storage-postgres'
import pg from 'pg'
import { connectTo } from '../transports/broker-address.ts'
import { orderPlaced } from '../transports/message-path.ts'
import { dedupTimes, ship, type DedupSettings, type DedupStep } from './dedup-settings.ts'
import { workerSettings } from './worker-settings.ts'

const { address, source, dead, databaseUrl, transactional, step } = workerSettings() as DedupSettings
const { executionBudgetMs, leaseMs } = dedupTimes
const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
pool.on('error', () => undefined)
const { dedup } = postgresStorage({ pool })

const dieAt = (reached: DedupStep): void => {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
}
const dying: DedupStore<PostgresTransaction> = {
  ...dedup,
  async claim(key, lease) {
    const claim = await dedup.claim(key, lease)
    dieAt('after the claim, before the handler')
    return claim
  },
  async complete(key, generation, options) {
    dieAt('after the work of the handler, before its completion')
    const result = await dedup.complete(key, generation, options)
    dieAt('after the completion, before the accept')
    return result
  },
  async completeInTransaction(held, work, options) {
    const dyingWork = async (transaction: PostgresTransaction): Promise<void> => {
      await work(transaction)
      dieAt('after the work of the handler, before its completion')
    }
    const result = await dedup.completeInTransaction(held, dyingWork, options)
    dieAt('after the completion, before the accept')
    return result
  },
}
const consumer = createConsumer<PostgresTransaction>({
  transport: connectTo(address, [source, dead]),
  source,
  executionBudgetMs,
  dedup: { store: dying, leaseMs },
  retry: { deadLetterDestination: dead },
  handlers: [
    defineHandler({
      contract: orderPlaced,
      transactional,
      async handle({ id }, { transaction }) {
        await ship(id, transaction ?? pool)
      },
    }),
  ],
})
await consumer.start()
process.send?.('ready')
