import { assertDedupClaim, resolveDedupRetention, type DedupClaim, type DedupStore } from '@litebus/core'
import { runIn } from '../database/callers-transaction.ts'
import { completeWith } from '../database/complete-with.ts'
import type { Database, Run } from '../database/database.ts'
import type { PostgresTransaction } from '../database/postgres-client.ts'
import type { Names } from '../schema/names.ts'
import { claimSql, completeMarkedSql, completeSql, releaseSql, retentionSql } from './dedup-sql.ts'

/** What the dedup store is made of. */
export interface DedupParts {
  readonly database: Database
  /** The same with more patience, for what operators do. */
  readonly maintenance: Database
  readonly names: Names
  /** Refuses a schema that this package does not know; asks the database only until it was found to be right. */
  readonly ready: (run: Run) => Promise<void>
  /** The same, and always asks. */
  readonly check: (run: Run) => Promise<void>
}

/** Builds the dedup store. Each operation is one statement, and the clock of the database decides. */
export function createDedupStore(parts: DedupParts): DedupStore<PostgresTransaction> {
  const { database, maintenance, names } = parts
  const readSchema: Run = (text, values) => database.read('read the schema', text, values)
  const ready = (): Promise<void> => parts.ready(readSchema)
  const sql = {
    claim: claimSql(names),
    complete: completeSql(names),
    completeMarked: completeMarkedSql(names),
    release: releaseSql(names),
    retention: retentionSql(names),
  }
  const completing = 'complete a key'
  return {
    async claim(key, leaseMs) {
      assertDedupClaim(key, leaseMs)
      await ready()
      const [row] = await database.run('claim a key', sql.claim, [key, leaseMs])
      return { state: stateOf(row?.[0]), generation: row?.[1] ?? '0' }
    },
    async complete(key, generation, { transaction } = {}) {
      const run: Run =
        transaction === undefined
          ? (text, values) => database.run(completing, text, values)
          : await runIn(transaction, completing)
      await parts.ready(transaction === undefined ? readSchema : run)
      return (await run(sql.complete, [key, generation])).length > 0 ? 'applied' : 'leaseLost'
    },
    async completeInTransaction({ key, generation }, work, { signal } = {}) {
      await ready()
      const complete = async (run: Run): Promise<'applied' | 'lost' | 'ended'> => {
        const [row] = await run(sql.completeMarked, [key, generation])
        if (row?.[0] === '!') return 'ended'
        return row?.[0] === '*' ? 'applied' : 'lost'
      }
      return completeWith(database, { doing: completing, work, complete, signal })
    },
    async release(key, generation) {
      await ready()
      await database.run('release a key', sql.release, [key, generation])
    },
    async runRetention(request) {
      const { dedupRetentionMs, limit } = resolveDedupRetention(request)
      await ready()
      const rows = await maintenance.run('run retention of keys', sql.retention, [dedupRetentionMs, limit])
      return Number(rows[0]?.[0] ?? 0)
    },
    probe: () => parts.check(readSchema),
  }
}

/** Without a row, another claim has committed since the statement began: the next one will see it. */
function stateOf(text: string | null | undefined): DedupClaim['state'] {
  return text === 'claimed' || text === 'completed' ? text : 'inProgress'
}
