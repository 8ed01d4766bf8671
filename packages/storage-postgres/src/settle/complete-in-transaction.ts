import type { Lease, SettleResult } from '@litebus/core'
import { completeWith, type CompletedWork } from '../database/complete-with.ts'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { settleSucceeded } from './settle.ts'

/** Runs work and the completion of its message in one transaction. */
export function completeInTransaction(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  lease: Lease,
  work: Pick<CompletedWork, 'work' | 'signal'>,
): Promise<SettleResult> {
  return completeWith(database, {
    ...work,
    doing: 'complete a message',
    complete: async (run) => (await settleSucceeded(run, axis, [lease])).length > 0,
  })
}
