import type { LeaseRequest } from '@litebus/core'
import type { Database, Row } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import type { RefetchBodies } from './decode-leased.ts'

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

/** Runs a leasing function. */
export function callLease(
  { database, axis }: LeaseContext,
  name: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const places = values.map((_, index) => `$${String(index + 1)}`).join(', ')
  return database.run('lease messages', `select * from ${axis.fn(name)}(${places})`, values)
}

/** Fetches bodies in hexadecimal form: those that are not UTF-8. */
export function refetchBodies({ database, axis }: LeaseContext): RefetchBodies {
  return async (sequences) => {
    const rows = await database.read(
      'read bodies',
      `select m.seq::text, encode(m.body, 'hex') from ${axis.message} m where m.seq = any ($1::bigint[])`,
      [[...sequences]],
    )
    return new Map(rows.map(([sequence, hex]) => [String(sequence), Buffer.from(hex ?? '', 'hex')]))
  }
}
