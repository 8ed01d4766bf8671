import { InvalidOperationError, type MessageFilter } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { filterSql, isUnrestricted, where } from './filter-sql.ts'

/** Rows a statement; more would hold locks and a snapshot for long. */
const portion = 5000

/** Deletes messages that are not leased, in portions of one transaction each. */
export async function purge(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  filter: MessageFilter,
  { all, limit }: { readonly all: boolean; readonly limit: number },
): Promise<number> {
  if (isUnrestricted(filter) && !all) {
    throw new InvalidOperationError(
      'expected a filter or { all: true }: this purge would delete every message',
    )
  }
  const { joins, conditions, values } = filterSql(axis, filter)
  const free = [
    ...conditions,
    '(q.seq is null or q.lease_expires_at is null or q.lease_expires_at <= clock_timestamp())',
  ]
  let purged = 0
  for (;;) {
    const count = Math.min(portion, limit - purged)
    if (count <= 0) return purged
    const deleted = await database.transaction('purge messages', async (run) => {
      const chosen = await run(
        `select m.seq::text, (q.seq is not null)::text from ${joins} where ${where(free)}
        order by m.seq limit $${String(values.length + 1)}::bigint`,
        [...values, count],
      )
      if (chosen.length === 0) return 0
      return deleteRows(run, axis, chosen)
    })
    purged += deleted
    if (deleted === 0) return purged
  }
}

async function deleteRows(
  run: (text: string, values: readonly unknown[]) => Promise<readonly (readonly (string | null)[])[]>,
  axis: AxisNames,
  chosen: readonly (readonly (string | null)[])[],
): Promise<number> {
  const queued = chosen.filter(([, isQueued]) => isQueued === 'true').map(([sequence]) => sequence)
  const ended = chosen.filter(([, isQueued]) => isQueued !== 'true').map(([sequence]) => sequence)
  const [row] = await run(
    `with q as (
      delete from ${axis.queue} q where q.seq = any (array(
        select q.seq from ${axis.queue} q where q.seq = any ($1::bigint[])
          and (q.lease_expires_at is null or q.lease_expires_at <= clock_timestamp())
        order by q.seq for update skip locked))
      returning q.seq
    ), d as (
      delete from ${axis.done} d where d.seq = any ($2::bigint[]) returning d.seq
    ), x as (
      delete from ${axis.dead} x where x.seq = any ($2::bigint[]) returning x.seq
    ), m as (
      delete from ${axis.message} m using (
        select q.seq from q union all select d.seq from d union all select x.seq from x
      ) g where m.seq = g.seq
      returning m.seq
    ) select count(*)::text from m`,
    [queued, ended],
  )
  return Number(row?.[0] ?? 0)
}
