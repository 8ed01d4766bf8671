import { InvalidOperationError } from '@litebus/core'
import type { PostgresTransaction } from './postgres-client.ts'
import { statement, type Run } from './statement.ts'
import { sqlStateOf, translateError } from './translate-error.ts'

const refusal =
  'expected a client with an open transaction (run BEGIN on it first), found one without: the message would be ' +
  'stored whatever becomes of the rest'

/**
 * Runs statements in the caller's transaction. A handle without an open transaction is refused: what is written
 * through it would be committed at once. Where the driver cannot tell, a savepoint can.
 */
export async function runIn(transaction: PostgresTransaction, doing: string): Promise<Run> {
  if (typeof (transaction as Partial<PostgresTransaction> | null)?.query !== 'function') {
    throw new InvalidOperationError('expected a client of pg as transaction, found another value')
  }
  if (transaction.getTransactionStatus?.() !== 'T') await probe(transaction, doing)
  return async (text, values) => {
    try {
      return (await statement(transaction, text, values)).rows
    } catch (error) {
      throw translateError(error, doing)
    }
  }
}

async function probe(transaction: PostgresTransaction, doing: string): Promise<void> {
  try {
    await statement(transaction, 'savepoint litebus')
    await statement(transaction, 'release savepoint litebus')
  } catch (error) {
    if (sqlStateOf(error) === '25P01') throw new InvalidOperationError(refusal, { cause: error })
    throw translateError(error, doing)
  }
}
