import { inTime, StoreUnavailableError, type Clock } from '@litebus/core'
import { checkOut } from './check-out.ts'
import type { PostgresPool, PostgresTransaction } from './postgres-client.ts'
import { statement, type StatementResult } from './statement.ts'
import { sqlStateOf, translateError } from './translate-error.ts'

/** Where connections come from, and how long anything on them may take. */
export interface ConnectionSource {
  /** The pool. */
  readonly pool: PostgresPool
  /** Time. */
  readonly clock: Clock
  /** Milliseconds to wait for a connection. */
  readonly connectTimeoutMs: number
  /** Milliseconds to wait for the answer to one statement of the store's own. */
  readonly statementTimeoutMs: number
}

/** One connection of the pool while the store uses it. */
export interface OwnConnection {
  /** For statements of the application, which nothing here bounds. */
  readonly client: PostgresTransaction
  /** Runs one statement of the store's own, bounded in time. */
  readonly run: (text: string, values?: readonly unknown[]) => Promise<StatementResult>
  /** Closes the connection at once, whatever runs on it; the server rolls back what was open. */
  breakOff(reason: Error): void
}

/**
 * Takes a connection for `work` and gives it back. One that broke, or did not answer in time, is closed instead: its
 * statement may still run, and a network that drops packets would swallow the next one too.
 */
export async function withConnection<T>(
  { pool, clock, connectTimeoutMs, statementTimeoutMs }: ConnectionSource,
  doing: string,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  let broken: Error | undefined
  let isOut = true
  // The loss of the connection is an answer to the running statement too.
  const onError = (error: Error): void => {
    broken = error
  }
  const limits = { doing, clock, onError }
  const client = await checkOut(pool, { ...limits, limitMs: connectTimeoutMs }).catch((error: unknown) => {
    throw translateError(error, doing)
  })
  const giveBack = (): void => {
    if (!isOut) return
    isOut = false
    client.off('error', onError)
    client.release(broken)
  }
  const breakOff = (reason: Error): void => {
    broken ??= reason
    giveBack()
  }
  const onLate = (): Error => {
    const error = new StoreUnavailableError(
      `expected to ${doing}, found no answer of PostgreSQL within ${String(statementTimeoutMs)} ms; the connection was closed`,
    )
    breakOff(error)
    return error
  }
  const run: OwnConnection['run'] = async (text, values) => {
    try {
      return await inTime(statement(client, text, values), { clock, limitMs: statementTimeoutMs, onLate })
    } catch (error) {
      // Anything but an answer of the server is a matter of the connection.
      if (sqlStateOf(error) === undefined) broken ??= asError(error)
      throw error
    }
  }
  try {
    return await work({ client, run, breakOff })
  } catch (error) {
    throw translateError(error, doing)
  } finally {
    giveBack()
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
