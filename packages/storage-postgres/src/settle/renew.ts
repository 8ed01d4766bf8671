import type { Lease, RenewResult } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { leaseArrays } from './lease-arrays.ts'

const letters: Readonly<Record<string, RenewResult>> = { r: 'renewed', s: 'skipped', l: 'lost' }

/** Extends leases in one statement. */
export async function renew(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly RenewResult[]> {
  if (leases.length === 0) return []
  const { sequences, generations, owners } = leaseArrays(leases)
  const [row] = await database.run('renew leases', `select ${axis.fn('renew')}($1, $2, $3, $4)`, [
    sequences,
    generations,
    owners,
    leaseMs,
  ])
  const answer = row?.[0] ?? ''
  return leases.map((_, index) => (answer === '*' ? 'renewed' : (letters[answer.charAt(index)] ?? 'lost')))
}
