import type { Lease } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { leaseArrays } from './lease-arrays.ts'
import { boundedDelay } from './settle.ts'

/** Gives leases back with their attempts, in one statement. */
export async function release(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  leases: readonly Lease[],
  delayMs: number,
): Promise<void> {
  if (leases.length === 0) return
  const { sequences, generations, owners } = leaseArrays(leases)
  await database.run('release leases', `select ${axis.fn('release')}($1, $2, $3, $4)::text`, [
    sequences,
    generations,
    owners,
    boundedDelay(delayMs),
  ])
}
