import type { Lease } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { byOwner, leaseArrays } from './lease-arrays.ts'
import { boundedDelay } from './settle.ts'

/** Gives leases back with their attempts, in one statement an owner. */
export async function release(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  leases: readonly Lease[],
  delayMs: number,
): Promise<void> {
  for (const group of byOwner(leases, (lease) => lease)) {
    const { sequences, generations, owner } = leaseArrays(group)
    await database.run('release leases', `select ${axis.fn('release')}($1, $2, $3, $4)::text`, [
      sequences,
      generations,
      owner,
      boundedDelay(delayMs),
    ])
  }
}
