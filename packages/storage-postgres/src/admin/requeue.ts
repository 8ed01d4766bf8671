import type { MessageFilter, RequeueResult } from '@litebus/core'
import type { Database } from '../database/database.ts'
import { laneLockSlots } from '../schema/v1/lease-lanes.ts'
import type { AxisNames } from '../schema/names.ts'
import { filterSql, where } from './filter-sql.ts'

/**
 * Makes dead letters wait again under their own sequence, so that they go first. The mutexes of their lanes are
 * taken, because a lease in progress may be moving the position of a lane past them.
 */
export async function requeue(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  filter: MessageFilter,
  limit: number,
): Promise<RequeueResult> {
  const { joins, conditions, values } = filterSql(axis, filter)
  return database.transaction('requeue messages', async (run) => {
    const letters = await run(
      `select x.seq::text, x.lane from ${joins} where ${where([...conditions, 'x.seq is not null'])}
      order by x.seq limit $${String(values.length + 1)}::bigint for update of x`,
      [...values, limit],
    )
    if (letters.length === 0) return { requested: 0, requeued: 0 }
    const lanes = [...new Set(letters.flatMap(([, lane]) => (lane == null ? [] : [lane])))]
    if (lanes.length > 0) {
      await run(
        `select pg_advisory_xact_lock(${String(axis.laneLockClass)}, s.slot)::text from (
          select distinct hashtext(u.lane) & ${String(laneLockSlots - 1)} as slot from unnest($1::text[]) u(lane)
          order by 1) s`,
        [lanes],
      )
    }
    const [moved] = await run(
      `with x as (
        delete from ${axis.dead} x where x.seq = any ($1::bigint[])
        returning x.seq, x.lane, x.code, x.first_failure_at, x.failures
      ), q as (
        insert into ${axis.queue} (seq, due_at, suspect, lane, first_failure_at, failures)
        select x.seq, clock_timestamp(), x.code = 'LEASE_EXPIRED', x.lane, x.first_failure_at, x.failures
        from x order by x.seq
        returning seq, lane
      ), l as (
        update ${axis.lane} t set safe_from = least(t.safe_from, q.low), pending_from = least(t.pending_from, q.low)
        from (select q.lane, min(q.seq) as low from q where q.lane is not null group by q.lane) q
        where t.lane = q.lane
      ) select count(*)::text from q`,
      [letters.map(([sequence]) => sequence)],
    )
    return { requested: letters.length, requeued: Number(moved?.[0] ?? 0) }
  })
}
