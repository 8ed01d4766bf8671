import type { Database, Run } from './database.ts'
import type { PostgresTransaction } from './postgres-client.ts'

/** Ends a transaction whose lease was lost; never seen outside. */
class LeaseLost extends Error {}

/** Work of the application that is completed in its own transaction. */
export interface CompletedWork {
  /** For messages of errors. */
  readonly doing: string
  /** The work. */
  readonly work: (transaction: PostgresTransaction) => Promise<void>
  /** The fenced completion, false when its lease was lost. */
  readonly complete: (run: Run) => Promise<boolean>
  /** Gives the work up. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs work and completion in one transaction. The fenced completion comes last, so that the row is not locked while
 * the work runs and a lost lease takes everything back.
 */
export async function completeWith(
  database: Database,
  { doing, work, complete, signal }: CompletedWork,
): Promise<'applied' | 'leaseLost'> {
  // What the work throws is the handler's own; only what the store does itself is translated.
  const handler: { failed: boolean; error: unknown } = { failed: false, error: undefined }
  try {
    await database.transactionOf(
      doing,
      async (run, client) => {
        try {
          await work(client)
        } catch (error) {
          handler.failed = true
          handler.error = error
          throw error
        }
        if (!(await complete(run))) throw new LeaseLost()
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
