import type { StatusCounts } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'

/** Counts by state, from the narrow tables only; what succeeded is history and not counted. */
export async function statusCounts(database: Database, axis: AxisNames): Promise<StatusCounts> {
  const [row] = await database.read(
    'count messages',
    `select count(*) filter (where q.lease_expires_at is null and q.attempts = 0)::text,
      count(*) filter (where q.lease_expires_at is not null)::text,
      count(*) filter (where q.lease_expires_at is null and q.attempts > 0)::text,
      (select count(*) from ${axis.dead})::text,
      (select count(distinct x.lane) from ${axis.dead} x where x.lane is not null and x.blocks)::text,
      (date_part('epoch', clock_timestamp() - least(
        min(q.due_at) filter (where q.lease_expires_at is null and q.due_at <= clock_timestamp()),
        (select m.created_at from ${axis.message} m where m.seq = (
          select min(r.seq) from ${axis.queue} r where r.due_at is null and r.lease_expires_at is null)))) * 1000)::text
    from ${axis.queue} q`,
    [],
  )
  const [awaiting, leased, retryScheduled, parked, keysBlocked, age] = row ?? []
  return {
    awaiting: Number(awaiting ?? 0),
    leased: Number(leased ?? 0),
    retryScheduled: Number(retryScheduled ?? 0),
    parked: Number(parked ?? 0),
    keysBlocked: Number(keysBlocked ?? 0),
    ...(age == null ? undefined : { oldestDueAgeMs: Math.max(0, Number(age)) }),
  }
}
