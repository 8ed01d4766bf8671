import { withScope, type Scope, type TransportFixture } from '@litebus/conformance'
import { defineContract, type MessageContract, type MessageRecord } from '@litebus/core'
import { postgresStorage, type PostgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import type { PostgresService } from '../services/services.ts'

/** The message of the matrices. */
export interface Order {
  readonly id: string
}

/** Its contract, with a schema that wants an id. */
export const orderPlaced: MessageContract<Order> = defineContract<Order>({
  name: 'order-placed',
  version: 1,
  schema: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        typeof (value as Partial<Order> | null)?.id === 'string'
          ? { value: value as Order }
          : { issues: [{ message: 'expected an id', path: ['id'] }] },
    },
  },
})

/** The two headers that a foreign publisher has to send. */
export const contractHeaders: Readonly<Record<string, string>> = {
  'litebus-contract-name': 'order-placed',
  'litebus-contract-version': '1',
}

/** The body of an order. */
export const orderBody = (id: string): Uint8Array =>
  Buffer.from(JSON.stringify({ id, customer: 'Žofie 山田' }))

/** A broker and an empty database. */
export interface MessagePath {
  /** Owns what a test opens. */
  readonly scope: Scope
  /** The broker. */
  readonly fixture: TransportFixture
  /** The store. */
  readonly storage: PostgresStorage
  /** Its connections. */
  readonly pool: pg.Pool
  /** Where the database is. */
  readonly databaseUrl: string
  /** Every row of the inbox. */
  inboxRows(): Promise<readonly MessageRecord[]>
}

/** Opens a path, runs a test with it, and closes everything that was opened. */
export function openPath(
  parts: { readonly postgres: PostgresService; readonly open: (scope: Scope) => Promise<TransportFixture> },
  work: (path: MessagePath) => Promise<void>,
): Promise<void> {
  return withScope(async (scope) => {
    const database = scope.use(await parts.postgres.createDatabase())
    const pool = new pg.Pool({ connectionString: database.url, max: 8 })
    scope.defer(() => pool.end())
    pool.on('error', () => undefined)
    const storage = scope.use(postgresStorage({ pool }))
    await storage.schema.migrate()
    const fixture = await parts.open(scope)
    await work({
      scope,
      fixture,
      storage,
      pool,
      databaseUrl: database.url,
      inboxRows: async () => (await storage.inbox.query({ limit: 1000 })).records,
    })
  })
}
