import { InvalidOperationError, isLiteBusError } from '@litebus/core'
import type { PostgresPool, PostgresPoolClient, PostgresTransaction } from './postgres-client.ts'
import { sqlStateOf, translateError } from './translate-error.ts'

/** One row; every value is text or null. Bodies are text too, see {@link statement}. */
export type Row = readonly (string | null)[]

/** Runs a statement and answers its rows. */
export type Run = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>

const asReceived = { getTypeParser: () => (value: unknown) => value }

/** Runs one statement on a client. Values are never parsed by the driver: applications change its parsers. */
export async function statement(
  client: PostgresTransaction,
  text: string,
  values: readonly unknown[] = [],
): Promise<{ readonly rows: readonly Row[]; readonly command: string }> {
  const binary = values.length > 0
  const result = await client.query({
    text,
    values: [...values],
    rowMode: 'array',
    types: asReceived,
    ...(binary ? { binary } : {}),
  })
  return { rows: result.rows as Row[], command: result.command }
}

/** The store's own connections. */
export interface Database {
  /** Runs one statement in a transaction of its own, READ COMMITTED. */
  run(doing: string, text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** Runs work in one transaction, READ COMMITTED. */
  transaction<T>(doing: string, work: (run: Run, client: PostgresTransaction) => Promise<T>): Promise<T>
  /** Runs one statement with whatever isolation level is the default: reads that decide nothing. */
  read(doing: string, text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** The default isolation level of sessions was found to be another one. */
  expectOtherIsolation(): void
}

/** Builds the access to a pool. */
export function createDatabase(pool: PostgresPool): Database {
  // Whether single statements find READ COMMITTED by default; otherwise each needs BEGIN and COMMIT around it.
  let readCommitted = true
  const read: Database['read'] = (doing, text, values) =>
    withClient(pool, doing, async (client) => (await statement(client, text, values)).rows)
  const transaction: Database['transaction'] = (doing, work) =>
    withClient(pool, doing, (client) => inTransaction(client, (run) => work(run, client)))
  return {
    read,
    transaction,
    expectOtherIsolation() {
      readCommitted = false
    },
    async run(doing, text, values) {
      if (readCommitted) {
        try {
          return await read(doing, text, values)
        } catch (error) {
          if (sqlStateOf(error) !== 'LB001') throw error
          readCommitted = false
        }
      }
      return transaction(doing, (run) => run(text, values))
    },
  }
}

/** Checks a client out for `work`; one whose connection broke is closed instead of given back. */
async function withClient<T>(
  pool: PostgresPool,
  doing: string,
  work: (client: PostgresPoolClient) => Promise<T>,
): Promise<T> {
  let broken: Error | undefined
  // The loss of the connection is an answer to the running statement too; unheard, the event would end the process.
  const onError = (error: Error): void => {
    broken = error
  }
  const client = await connect(pool, doing)
  client.on('error', onError)
  try {
    return await work(client)
  } catch (error) {
    if (sqlStateOf(error) === undefined && !isLiteBusError(error)) broken ??= asError(error)
    throw translateError(error, doing)
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

async function inTransaction<T>(client: PostgresTransaction, work: (run: Run) => Promise<T>): Promise<T> {
  await statement(client, 'begin isolation level read committed')
  try {
    const result = await work(async (text, values) => (await statement(client, text, values)).rows)
    await commit(client)
    return result
  } catch (error) {
    await statement(client, 'rollback').catch(() => undefined)
    throw error
  }
}

/** Commits and checks that it was a commit: an aborted transaction answers ROLLBACK without an error. */
async function commit(client: PostgresTransaction): Promise<void> {
  const { command } = await statement(client, 'commit')
  if (command === 'COMMIT') return
  throw new InvalidOperationError(
    `expected the transaction to commit, found that an earlier error had aborted it (${command})`,
  )
}

async function connect(pool: PostgresPool, doing: string): Promise<PostgresPoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translateError(error, doing)
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
