import { randomUUID } from 'node:crypto'
import pg from 'pg'
import {
  inTime,
  StoreUnavailableError,
  SuspectGate,
  type Axis,
  type DedupStore,
  type MessageStore,
} from '@litebus/core'
import { createDatabase, type Run } from './database/database.ts'
import type { PostgresPool, PostgresTransaction } from './database/postgres-client.ts'
import { createDedupStore } from './dedup/dedup-store.ts'
import {
  resolveOptions,
  type PostgresConnection,
  type PostgresStorageOptions,
  type ResolvedOptions,
} from './options.ts'
import { encodingFault, readEncoding } from './schema/encoding.ts'
import { expectedVersion } from './schema/migrations.ts'
import { namesOf } from './schema/names.ts'
import {
  createSchemaManager,
  installedVersion,
  versionFault,
  type SchemaManager,
} from './schema/schema-manager.ts'
import { Listener } from './signal/listener.ts'
import { Sleeper } from './signal/sleepers.ts'
import { Wakers } from './signal/wakers.ts'
import { createAxisSignal } from './signal/work-signal.ts'
import { createStore } from './store.ts'

/** Inbox and outbox on PostgreSQL. */
export interface PostgresStorage extends AsyncDisposable {
  /** Store of the inbox. */
  readonly inbox: MessageStore<PostgresTransaction>
  /** Store of the outbox. */
  readonly outbox: MessageStore<PostgresTransaction>
  /** Deduplication for consumers without an inbox. */
  readonly dedup: DedupStore<PostgresTransaction>
  /** Installs, checks and explains the schema. */
  readonly schema: SchemaManager
  /** Ends the listener and, where the storage made it, the pool. */
  close(): Promise<void>
}

/**
 * Builds the storage on PostgreSQL 15 or later. Connects when it is first used.
 *
 * @throws OptionsError that names every fault of the options.
 */
export function postgresStorage(options: PostgresStorageOptions): PostgresStorage {
  const resolved = resolveOptions(options)
  const { clock, logger } = resolved
  const names = namesOf(resolved.schema, resolved.tablePrefix)
  const { pool, ownPool } = openPools(resolved)
  const source = { ...resolved, pool }
  hearIdleLosses(pool)
  const database = createDatabase(source)
  const maintenance = createDatabase({ ...source, statementTimeoutMs: resolved.maintenanceTimeoutMs })
  const schema = createSchemaManager(maintenance, names)
  const gate = new SuspectGate({ patienceMs: resolved.suspectPatienceMs })
  const wakers = { inbox: new Wakers(clock), outbox: new Wakers(clock) }
  const raiseAll = (): void => {
    wakers.inbox.raise()
    wakers.outbox.raise()
  }
  const listenTo = resolved.listen ?? resolved.connection ?? connectionOf(pool)
  const listener =
    listenTo === false || listenTo === undefined
      ? undefined
      : new Listener({
          open: () => new pg.Client({ ...watched(resolved), ...clientConfig(listenTo) }),
          channel: names.channel,
          clock,
          logger,
          onWork(payload) {
            if (payload === 'inbox' || payload === 'outbox') wakers[payload].raise()
            else raiseAll()
          },
        })
  const id = randomUUID()
  const signalOf = (axis: Axis): ReturnType<typeof createAxisSignal> =>
    createAxisSignal(
      wakers[axis],
      listener,
      new Sleeper({ database, names, axis, id, monotonic: () => clock.monotonic() }),
    )
  const signals = { inbox: signalOf('inbox'), outbox: signalOf('outbox') }
  let checked = false
  const check = async (run: Run): Promise<void> => {
    const installed = await installedVersion(run, names)
    if (installed !== expectedVersion) throw new StoreUnavailableError(versionFault(installed, names))
    const [row] = await run(
      `select current_setting('default_transaction_isolation'), current_setting('transaction_read_only'), ${readEncoding}`,
      [],
    )
    if (row?.[1] === 'on')
      throw new StoreUnavailableError('expected a database to write to, found it read-only')
    const encoding = encodingFault(row?.[2])
    if (encoding !== undefined) throw new StoreUnavailableError(encoding)
    if (row?.[0] !== 'read committed') database.expectOtherIsolation()
    checked = true
  }
  const ready = async (run: Run): Promise<void> => {
    if (!checked) await check(run)
  }
  const storeOf = (axis: Axis): MessageStore<PostgresTransaction> =>
    createStore({
      options: resolved,
      database,
      maintenance,
      axis: names[axis],
      gate,
      signal: signals[axis],
      schema,
      ready,
      check,
      onGateOpened: raiseAll,
    })
  const close = async (): Promise<void> => {
    await Promise.all([signals.inbox.close(), signals.outbox.close(), listener?.close()])
    if (ownPool === undefined) return
    await inTime(ownPool.end(), {
      clock,
      limitMs: resolved.statementTimeoutMs,
      onLate: () =>
        new StoreUnavailableError(
          `expected the pool to end within ${String(resolved.statementTimeoutMs)} ms, found connections in use: stop what uses the storage first`,
        ),
    })
  }
  return {
    inbox: storeOf('inbox'),
    outbox: storeOf('outbox'),
    dedup: createDedupStore({ database, maintenance, names, ready, check }),
    schema,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function openPools(resolved: ResolvedOptions): {
  readonly pool: PostgresPool
  readonly ownPool: pg.Pool | undefined
} {
  const { pool, connection } = resolved
  if (pool !== undefined) return { pool, ownPool: undefined }
  const ownPool = openPool(connection ?? {}, resolved)
  return { pool: ownPool, ownPool }
}

/**
 * Idle connections that break are replaced by the pool; unheard, the event would end the process, also while the pool
 * ends after the storage. One listener is enough, the application's or that of another storage.
 */
function hearIdleLosses(pool: PostgresPool): void {
  if (pool.listenerCount?.('error') === 0) pool.on?.('error', () => undefined)
}

function openPool(connection: PostgresConnection, resolved: ResolvedOptions): pg.Pool {
  return new pg.Pool({ application_name: 'litebus', ...watched(resolved), ...clientConfig(connection) })
}

/** Connections that are never made, or die in silence, are given up by the driver. */
function watched({ connectTimeoutMs }: ResolvedOptions): pg.ClientConfig {
  return { connectionTimeoutMillis: connectTimeoutMs, keepAlive: true }
}

function clientConfig(connection: PostgresConnection): pg.ClientConfig {
  return typeof connection === 'string' ? { connectionString: connection } : connection
}

/** The configuration of a pool of `pg`, for a connection beside it. */
function connectionOf(pool: PostgresPool): PostgresConnection | undefined {
  const { options } = pool as { readonly options?: PostgresConnection }
  return options
}
