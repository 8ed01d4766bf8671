import {
  checkOptions,
  isolateLogger,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type Clock,
  type Logger,
  type OptionShape,
} from '@litebus/core'
import type { PostgresPool } from './database/postgres-client.ts'
import { identifierFault } from './schema/names.ts'

/** Where PostgreSQL is: a connection string, or the configuration object that `pg` takes. */
export type PostgresConnection = string | Readonly<Record<string, unknown>>

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /** The application's own pool; it stays the application's to end. Either this or `connection`. */
  readonly pool?: PostgresPool
  /** Where to connect with a pool of the storage's own, ended by `close`. Either this or `pool`. */
  readonly connection?: PostgresConnection | undefined
  /** Schema that holds everything. @defaultValue 'litebus' */
  readonly schema?: string
  /** Put in front of every table name, at most 30 bytes. @defaultValue '' */
  readonly tablePrefix?: string
  /**
   * Rows that may wait on one axis before writes are refused with `INBOX_STORAGE_REFUSED`. Counted at most once a
   * second, so concurrent writers may overshoot. @defaultValue no limit
   */
  readonly maxPendingRows?: number
  /**
   * Connection that listens for notifications; it must not go through a pooler in transaction mode. `false`: work is
   * found by polling only. @defaultValue the connection, or that of the pool
   */
  readonly listen?: PostgresConnection | false
  /** How long a suspect waits for held leases before ordinary leasing resumes for as long. @defaultValue 60000 */
  readonly suspectPatienceMs?: number
  /** Longest wait for a connection of the pool, in milliseconds. @defaultValue 10 000 */
  readonly connectTimeoutMs?: number
  /**
   * Longest wait for the answer to one statement of the store's own, in milliseconds. A connection that does not answer
   * is closed, and the call fails with `STORE_UNAVAILABLE`. Transactions of callers and what handlers do in theirs are
   * not bounded by it. @defaultValue 10 000
   */
  readonly statementTimeoutMs?: number
  /**
   * The same for statements of operators: schema, queries, counts, requeue, purge and retention. @defaultValue 600 000
   */
  readonly maintenanceTimeoutMs?: number
  /** Where state changes of the work signal are logged. @defaultValue nowhere */
  readonly logger?: Logger
  /** Clock for waits and local deadlines; leases are decided by the clock of the database. @defaultValue the machine's */
  readonly clock?: Clock
}

/** Options with their defaults. */
export interface ResolvedOptions {
  readonly pool: PostgresPool | undefined
  readonly connection: PostgresConnection | undefined
  readonly schema: string
  readonly tablePrefix: string
  readonly maxPendingRows: number | undefined
  readonly listen: PostgresConnection | false | undefined
  readonly suspectPatienceMs: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly maintenanceTimeoutMs: number
  readonly logger: Logger
  readonly clock: Clock
}

const shape: OptionShape<PostgresStorageOptions> = {
  pool: { members: ['connect'], optional: true },
  connection: 'any?',
  schema: 'any?',
  tablePrefix: 'any?',
  maxPendingRows: 'any?',
  listen: 'any?',
  suspectPatienceMs: 'any?',
  connectTimeoutMs: 'any?',
  statementTimeoutMs: 'any?',
  maintenanceTimeoutMs: 'any?',
  logger: portRules.logger,
  clock: portRules.clock,
}

/** Fills in the defaults and reports every fault at once. */
export function resolveOptions(given: PostgresStorageOptions): ResolvedOptions {
  const options = readOptions('postgresStorage', given, { shape })
  const resolved: ResolvedOptions = {
    pool: options.pool,
    connection: options.connection,
    schema: options.schema ?? 'litebus',
    tablePrefix: options.tablePrefix ?? '',
    maxPendingRows: options.maxPendingRows,
    listen: options.listen,
    suspectPatienceMs: options.suspectPatienceMs ?? 60_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
    maintenanceTimeoutMs: options.maintenanceTimeoutMs ?? 600_000,
    logger: isolateLogger(options.logger ?? silentLogger),
    clock: options.clock ?? systemClock,
  }
  const checks = checkOptions()
  checks.that(
    (resolved.pool === undefined) !== (resolved.connection === undefined),
    'expected either pool or connection, found ' + (resolved.pool === undefined ? 'neither' : 'both'),
  )
  checks.text('schema', resolved.schema)
  const schemaFault = identifierFault('schema', resolved.schema, 63)
  const prefixFault = identifierFault('tablePrefix', resolved.tablePrefix, 30)
  for (const fault of [schemaFault, prefixFault]) if (fault !== undefined) checks.that(false, fault)
  if (resolved.maxPendingRows !== undefined) {
    checks.integer('maxPendingRows', resolved.maxPendingRows, { min: 1 })
  }
  checks.duration('suspectPatienceMs', resolved.suspectPatienceMs)
  checks.duration('connectTimeoutMs', resolved.connectTimeoutMs, { min: 1 })
  checks.duration('statementTimeoutMs', resolved.statementTimeoutMs, { min: 1 })
  checks.duration('maintenanceTimeoutMs', resolved.maintenanceTimeoutMs, { min: 1 })
  if (checks.faults.length > 0) throw new OptionsError('postgresStorage', checks.faults)
  return resolved
}
