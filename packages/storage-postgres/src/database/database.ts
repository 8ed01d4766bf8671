import { InvalidOperationError, untilAborted } from '@litebus/core'
import { withConnection, type ConnectionSource, type OwnConnection } from './own-connection.ts'
import type { PostgresTransaction } from './postgres-client.ts'
import type { Row, Run } from './statement.ts'
import { sqlStateOf } from './translate-error.ts'

export type { Row, Run }

/** The store's own connections. */
export interface Database {
  /** Runs one statement in a transaction of its own, READ COMMITTED. */
  run(doing: string, text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** Runs work in one transaction, READ COMMITTED. */
  transaction<T>(doing: string, work: (run: Run) => Promise<T>): Promise<T>
  /**
   * Runs work of the application in one transaction, READ COMMITTED. Its own statements are not bounded in time; when
   * the signal aborts, the connection is closed, which rolls back, and the call rejects.
   */
  transactionOf<T>(
    doing: string,
    work: (run: Run, client: PostgresTransaction) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Runs one statement with whatever isolation level is the default: reads that decide nothing. */
  read(doing: string, text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** The default isolation level of sessions was found to be another one. */
  expectOtherIsolation(): void
}

const begin = 'begin isolation level read committed'
/* Ends with the transaction: work of the application may end it and begin another one, and this one is not that. */
const beginMarked = `${begin}; set local litebus.work = 'open'`

/** Whether the transaction in which a statement runs is the one that {@link Database.transactionOf} has begun. */
export const isMarked = "current_setting('litebus.work', true) = 'open'"

/** Builds the access to a pool. */
export function createDatabase(source: ConnectionSource): Database {
  // Whether single statements find READ COMMITTED by default; otherwise each needs BEGIN and COMMIT around it.
  let readCommitted = true
  const limitMs = Math.ceil(source.statementTimeoutMs)
  // The server gives up as well, so that no lock outlives what nobody waits for; one round trip, like BEGIN alone.
  const beginBounded = `${begin}; set local statement_timeout = ${String(limitMs)}`
  const read: Database['read'] = (doing, text, values) =>
    withConnection(source, doing, async ({ run }) => (await run(text, values)).rows)
  const transaction: Database['transaction'] = (doing, work) =>
    withConnection(source, doing, (connection) => inTransaction(connection, beginBounded, work))
  return {
    read,
    transaction,
    transactionOf(doing, work, signal) {
      const done = withConnection(source, doing, (connection) => {
        const onAbort = (): void => {
          connection.breakOff(new Error('the transaction was given up'))
        }
        if (signal?.aborted === true) onAbort()
        signal?.addEventListener('abort', onAbort, { once: true })
        return inTransaction(connection, beginMarked, (run) => work(run, connection.client)).finally(() => {
          signal?.removeEventListener('abort', onAbort)
        })
      })
      return untilAborted(done, signal)
    },
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

async function inTransaction<T>(
  connection: OwnConnection,
  beginning: string,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  await connection.run(beginning)
  try {
    const result = await work(async (text, values) => (await connection.run(text, values)).rows)
    await commit(connection)
    return result
  } catch (error) {
    // A failure here marks the connection, which is closed then.
    await connection.run('rollback').catch(() => undefined)
    throw error
  }
}

/** Commits and checks that it was a commit: an aborted transaction answers ROLLBACK without an error. */
async function commit(connection: OwnConnection): Promise<void> {
  const { command } = await connection.run('commit')
  if (command === 'COMMIT') return
  throw new InvalidOperationError(
    `expected the transaction to commit, found that an earlier error had aborted it (${command})`,
  )
}
