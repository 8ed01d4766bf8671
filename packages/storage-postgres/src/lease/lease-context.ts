import type { LeaseRequest } from '@litebus/core'
import type { Database, Row } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { release } from '../settle/release.ts'
import { decodeLeased, type DecodedLease, type RefetchBodies } from './decode-leased.ts'

/** What the leasing operations work with. */
export interface LeaseContext {
  readonly database: Database
  readonly axis: AxisNames
  /** Monotonic milliseconds. */
  readonly monotonic: () => number
}

/** The tenants and contracts of a request as arguments. */
export function filterArguments({ tenants, contracts }: LeaseRequest): readonly [unknown, unknown] {
  return [tenants === undefined ? null : [...tenants], contracts === undefined ? null : [...contracts]]
}

/** How a leasing function is called. */
export interface LeaseCall {
  /** Name of the function. */
  readonly name: string
  /** Its arguments. */
  readonly values: readonly unknown[]
  /** Owner of the leases. */
  readonly owner: string
  /** Whether it leases suspects. */
  readonly suspect: boolean
}

/** Runs a leasing function. Rows that it leased and that cannot be read are given back, or nobody would have them. */
export async function callLease(
  context: LeaseContext,
  { name, values, owner, suspect }: LeaseCall,
): Promise<DecodedLease> {
  const { database, axis } = context
  const places = values.map((_, index) => `$${String(index + 1)}`).join(', ')
  const rows = await database.run('lease messages', `select * from ${axis.fn(name)}(${places})`, values)
  try {
    const bodies = axis.axis === 'outbox' ? 'madeAtOnce' : 'madeOnDemand'
    return await decodeLeased(rows, { owner, suspect, bodies, refetch: refetchBodies(context) })
  } catch (error) {
    await giveBack(context, rows, owner)
    throw error
  }
}

/** The last row is the header, which has the generation of all of them. */
async function giveBack(context: LeaseContext, rows: readonly Row[], owner: string): Promise<void> {
  const { generation } = JSON.parse(rows.at(-1)?.[10] ?? '{}') as { readonly generation?: number }
  const leases = rows.slice(0, -1).map(([sequence, , , id]) => ({
    id: String(id),
    sequence: String(sequence),
    generation: String(generation),
    owner,
  }))
  // Where that fails too the leases run out.
  if (leases.length > 0) await release(context, leases, 0).catch(() => undefined)
}

/** Fetches bodies in hexadecimal form: those that are not UTF-8. */
function refetchBodies({ database, axis }: LeaseContext): RefetchBodies {
  return async (sequences) => {
    const rows = await database.read(
      'read bodies',
      `select m.seq::text, encode(m.body, 'hex') from ${axis.message} m where m.seq = any ($1::bigint[])`,
      [[...sequences]],
    )
    return new Map(rows.map(([sequence, hex]) => [String(sequence), Buffer.from(hex ?? '', 'hex')]))
  }
}
