import { InvalidOperationError, type Lease, type SettleResult } from '@litebus/core'
import { isMarked, type Database, type Run } from '../database/database.ts'
import type { PostgresTransaction } from '../database/postgres-client.ts'
import type { AxisNames } from '../schema/names.ts'
import { leaseArrays } from './lease-arrays.ts'

/** Ends a transaction whose lease was lost; never seen outside. */
class LeaseLost extends Error {}

/**
 * Runs work and completion in one transaction. The fenced completion comes last, so that the row is not locked while
 * the work runs and a lost lease takes everything back.
 */
export async function completeInTransaction(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  lease: Lease,
  {
    work,
    signal,
  }: {
    readonly work: (transaction: PostgresTransaction) => Promise<void>
    readonly signal?: AbortSignal | undefined
  },
): Promise<SettleResult> {
  // What the work throws is the handler's own; only what the store does itself is translated.
  const handler: { failed: boolean; error: unknown } = { failed: false, error: undefined }
  try {
    await database.transactionOf(
      'complete a message',
      async (run, client) => {
        try {
          await work(client)
        } catch (error) {
          handler.failed = true
          handler.error = (await isOpen(run)) ? error : transactionEnded()
          throw error
        }
        const answer = await complete(run, axis, lease)
        if (answer === 'ended') throw transactionEnded()
        if (answer === 'lost') throw new LeaseLost()
      },
      signal,
    )
    return 'applied'
  } catch (error) {
    if (handler.failed) throw handler.error
    const cause: unknown = error instanceof Error ? error.cause : undefined
    if (error instanceof LeaseLost || cause instanceof LeaseLost) return 'leaseLost'
    throw commitFailure(error)
  }
}

/**
 * Completes in the transaction that was begun, and in no other: one that the work has ended itself holds nothing of it
 * any more, and what comes after it would be committed whatever becomes of the rest.
 */
async function complete(run: Run, axis: AxisNames, lease: Lease): Promise<'applied' | 'lost' | 'ended'> {
  const { sequences, generations, owner } = leaseArrays([lease])
  const [row] = await run(
    `select case when ${isMarked} then ${axis.fn('settle_succeeded')}($1, $2, $3) else '!' end`,
    [sequences, generations, owner],
  )
  if (row?.[0] === '!') return 'ended'
  return row?.[0] === '*' ? 'applied' : 'lost'
}

/** A transaction that an error has aborted answers nothing, and is still there. */
async function isOpen(run: Run): Promise<boolean> {
  try {
    const [row] = await run(`select ${isMarked}`, [])
    return row?.[0] === 't'
  } catch {
    return true
  }
}

function transactionEnded(): InvalidOperationError {
  return new InvalidOperationError(
    'expected a handler to leave the end of its transaction to the library, found it ended: what it wrote may be lost or there twice; use savepoints, or a handler that is not transactional',
  )
}

/** Constraints and conflicts that show at the commit are the handler's failure; anything else leaves it unknown. */
function commitFailure(error: unknown): unknown {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  const code: unknown = (cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^(23|40)...$/.test(code) ? cause : error
}
