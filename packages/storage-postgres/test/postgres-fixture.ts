import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { StoreBinding, StorePair } from '@litebus/conformance'
import { systemClock, type Clock } from '@litebus/core'
import { postgres } from '../../../integration-tests/services/index.ts'
import { postgresStorage, type PostgresStorage } from '../src/index.ts'

const service = await postgres()
const database = await service.createDatabase()

/** The database of this test file; it ends with the test command. */
export function databaseUrl(): string {
  return database.url
}

/** A schema name that nobody else has. */
export function freshSchema(): string {
  return `litebus_test_${randomBytes(6).toString('hex')}`
}

/** Drops a schema. */
export async function dropSchema(schema: string, url: string = databaseUrl()): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`drop schema if exists "${schema}" cascade`)
  await client.end()
}

/** The PostgreSQL store, in a fresh schema a fixture. */
export const postgresBinding = (adapter: string, urlOf: () => string = databaseUrl): StoreBinding => ({
  adapter,
  capabilities: { callersTransactions: true, separateClock: true },
  async open(scope) {
    const schema = freshSchema()
    const url = urlOf()
    scope.defer(() => dropSchema(schema, url))
    const open = (clock: Clock = systemClock): PostgresStorage =>
      scope.use(postgresStorage({ connection: url, schema, clock }))
    const storage = open()
    await storage.schema.migrate()
    const callers = new pg.Pool({ connectionString: url, max: 12 })
    scope.defer(() => callers.end())
    const pair = ({ inbox, outbox }: PostgresStorage): StorePair => ({ inbox, outbox })
    return {
      ...pair(storage),
      another: () => Promise.resolve(pair(open())),
      async begin() {
        const transaction = await callers.connect()
        await transaction.query('begin')
        let isOpen = true
        const end = async (how: 'commit' | 'rollback'): Promise<void> => {
          if (!isOpen) return
          isOpen = false
          await transaction.query(how)
          transaction.release()
        }
        scope.defer(() => end('rollback'))
        return { transaction, commit: () => end('commit'), rollback: () => end('rollback') }
      },
      now: () => performance.now(),
      async withoutTransaction() {
        const client = await callers.connect()
        scope.defer(() => {
          client.release()
        })
        return client
      },
      pass: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
      skewed: (offsetMs: number) =>
        Promise.resolve(pair(open({ ...systemClock, now: () => systemClock.now() + offsetMs }))),
    }
  },
})
