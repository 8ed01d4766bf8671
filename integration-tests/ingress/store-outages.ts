import { postgresStorage, type PostgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { startTcpProxy } from '../services/index.ts'
import type { MessagePath } from '../transports/message-path.ts'

/** A way in which a database stops working without being gone for good. */
export interface StoreOutage {
  /** As it appears in the names of tests. */
  readonly name: string
  /** Begins it; answers what ends it. */
  readonly begin: (parts: OutageParts) => Promise<() => Promise<void>>
}

/** What an outage works on. */
export interface OutageParts {
  /** Cuts the store off. */
  readonly proxy: Awaited<ReturnType<typeof startTcpProxy>>
  /** Connections that no outage touches. */
  readonly admin: pg.Pool
}

/* Sessions keep their defaults, so those of the store have to begin again. */
const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name = 'litebus-outage'`

/** Every one of them. */
export const storeOutages: readonly StoreOutage[] = [
  {
    name: 'a database that cannot be reached',
    begin({ proxy }) {
      proxy.refuse()
      proxy.cut()
      return Promise.resolve(() => {
        proxy.accept()
        return Promise.resolve()
      })
    },
  },
  {
    name: 'a database that never answers',
    begin({ proxy }) {
      proxy.stall()
      return Promise.resolve(() => {
        proxy.resume()
        return Promise.resolve()
      })
    },
  },
  {
    name: 'a schema of another version',
    async begin({ admin }) {
      await admin.query('alter table litebus.inbox_queue rename to inbox_queue_of_tomorrow')
      return async () => {
        await admin.query('alter table litebus.inbox_queue_of_tomorrow rename to inbox_queue')
      }
    },
  },
  {
    name: 'a full disk',
    async begin({ admin }) {
      await admin.query(`create function public.disk_full() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
      await admin.query(
        'create trigger disk_full before insert on litebus.inbox_message execute function public.disk_full()',
      )
      return async () => {
        await admin.query('drop trigger disk_full on litebus.inbox_message')
        await admin.query('drop function public.disk_full()')
      }
    },
  },
  {
    name: 'a read-only database',
    async begin({ admin }) {
      const database = (await admin.query<{ name: string }>('select quote_ident(current_database()) as name'))
        .rows[0]?.name
      await admin.query(`alter database ${String(database)} set default_transaction_read_only = on`)
      await admin.query(endSessions)
      return async () => {
        await admin.query(`alter database ${String(database)} reset default_transaction_read_only`)
        await admin.query(endSessions)
      }
    },
  },
]

/** Opens the store of a path once more, behind a wire that can be cut and under a name that can be ended. */
export async function openFragileStore(
  path: MessagePath,
): Promise<OutageParts & { readonly storage: PostgresStorage }> {
  const { scope, databaseUrl } = path
  const proxy = scope.use(await startTcpProxy({ port: Number(new URL(databaseUrl).port || 5432) }))
  const fragile = new pg.Pool({
    connectionString: proxy.through(databaseUrl),
    application_name: 'litebus-outage',
    max: 4,
  })
  scope.defer(() => fragile.end())
  fragile.on('error', () => undefined)
  const admin = new pg.Pool({
    connectionString: databaseUrl,
    options: '-c default_transaction_read_only=off',
    max: 2,
  })
  scope.defer(() => admin.end())
  admin.on('error', () => undefined)
  return { proxy, admin, storage: scope.use(postgresStorage({ pool: fragile, listen: false })) }
}
