import type { Lease, RenewResult } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { byOwner, leaseArrays, leaseKey } from './lease-arrays.ts'

const letters: Readonly<Record<string, RenewResult>> = { r: 'renewed', s: 'skipped', l: 'lost' }

/** Extends leases, in one statement an owner. */
export async function renew(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly RenewResult[]> {
  const results = new Map<string, RenewResult>()
  for (const group of byOwner(leases, (lease) => lease)) {
    const { sequences, generations, owner } = leaseArrays(group)
    const [row] = await database.run('renew leases', `select ${axis.fn('renew')}($1, $2, $3, $4)`, [
      sequences,
      generations,
      owner,
      leaseMs,
    ])
    const answer = row?.[0] ?? ''
    group.forEach((lease, index) => {
      results.set(leaseKey(lease), answer === '*' ? 'renewed' : (letters[answer.charAt(index)] ?? 'lost'))
    })
  }
  return leases.map((lease) => results.get(leaseKey(lease)) ?? 'lost')
}
