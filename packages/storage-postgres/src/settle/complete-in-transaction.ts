import type { Lease, SettleResult } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { PostgresTransaction } from '../database/postgres-client.ts'
import type { AxisNames } from '../schema/names.ts'
import { settleSucceeded } from './settle.ts'

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
          handler.error = error
          throw error
        }
        const applied = await settleSucceeded(run, axis, [lease])
        if (applied !== 'all') throw new LeaseLost()
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

/** Constraints and conflicts that show at the commit are the handler's failure; anything else leaves it unknown. */
function commitFailure(error: unknown): unknown {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  const code: unknown = (cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^(23|40)...$/.test(code) ? cause : error
}
