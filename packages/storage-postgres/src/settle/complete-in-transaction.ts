import type { Lease, SettleResult } from '@litebus/core'
import { completeWith, type CompletedWork } from '../database/complete-with.ts'
import { isMarked, type Database, type Run } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { leaseArrays } from './lease-arrays.ts'

/** Runs work and the completion of its message in one transaction. */
export function completeInTransaction(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  lease: Lease,
  work: Pick<CompletedWork, 'work' | 'signal'>,
): Promise<SettleResult> {
  const complete = (run: Run): Promise<'applied' | 'lost' | 'ended'> => completeLease(run, axis, lease)
  return completeWith(database, { ...work, doing: 'complete a message', complete })
}

async function completeLease(run: Run, axis: AxisNames, lease: Lease): Promise<'applied' | 'lost' | 'ended'> {
  const { sequences, generations, owner } = leaseArrays([lease])
  const [row] = await run(
    `select case when ${isMarked} then ${axis.fn('settle_succeeded')}($1, $2, $3) else '!' end`,
    [sequences, generations, owner],
  )
  if (row?.[0] === '!') return 'ended'
  return row?.[0] === '*' ? 'applied' : 'lost'
}
