import { ArgumentError, type RetentionRequest, type RetentionResult } from '@litebus/core'
import type { Database } from '../database/database.ts'
import { idleLaneMs } from '../lease/lane-walk.ts'
import type { AxisNames } from '../schema/names.ts'
import { laneLockSlots } from '../schema/v1/lease-lanes.ts'

const day = 86_400_000
const idleLane = `interval '${String(idleLaneMs)} milliseconds'`

/**
 * Deletes by the time of success, oldest first: payloads after the retention, identities and keys after the longer
 * one. Only what succeeded is in the done table, so nothing that waits or is not yet visible can be met.
 */
export async function runRetention(
  { database, axis }: { readonly database: Database; readonly axis: AxisNames },
  { retentionMs = 7 * day, dedupRetentionMs = 30 * day, limit = 10_000 }: RetentionRequest,
): Promise<RetentionResult> {
  for (const [name, value] of Object.entries({ retentionMs, dedupRetentionMs, limit })) {
    if (!Number.isFinite(value) || value < 0) {
      throw new ArgumentError(`expected ${name} to be at least 0, found ${String(value)}`)
    }
  }
  const result = await database.transaction('run retention', async (run) => {
    const [stripped] = await run(
      `with d as (
        update ${axis.done} d set payload_deleted = true where d.seq = any (array(
          select d.seq from ${axis.done} d
          where not d.payload_deleted and d.ended_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
          order by d.ended_at limit $2::bigint for update skip locked))
        returning d.seq
      ), m as (
        update ${axis.message} m set body = null, body_digest = sha256(m.body), ordering_key = null,
          metadata = null
        where m.seq in (select d.seq from d)
        returning m.seq
      ) select count(*)::text from m`,
      [retentionMs, limit],
    )
    const [forgotten] = await run(
      `with d as (
        delete from ${axis.done} d where d.seq = any (array(
          select d.seq from ${axis.done} d
          where d.payload_deleted and d.ended_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
          order by d.ended_at limit $2::bigint for update skip locked))
        returning d.seq
      ), m as (
        delete from ${axis.message} m where m.seq in (select d.seq from d) returning m.seq
      ) select count(*)::text from m`,
      [Math.max(retentionMs, dedupRetentionMs), limit],
    )
    return { payloads: Number(stripped?.[0] ?? 0), identities: Number(forgotten?.[0] ?? 0) }
  })
  await forgetIdleLanes(database, axis)
  return result
}

/** Under the mutex of each lane: a lease in progress may be about to use it. */
async function forgetIdleLanes(database: Database, axis: AxisNames): Promise<void> {
  await database.transaction('forget idle lanes', async (run) => {
    const locked = await run(
      `select t.lane from ${axis.lane} t where t.used_at < clock_timestamp() - ${idleLane}
        and pg_try_advisory_xact_lock($1::integer, hashtext(t.lane) & $2::integer) limit 1000`,
      [axis.laneLockClass, laneLockSlots - 1],
    )
    if (locked.length === 0) return
    await run(
      `delete from ${axis.lane} t where t.lane = any ($1::text[])
        and not exists (select 1 from ${axis.queue} q where q.lane = t.lane)`,
      [locked.map(([lane]) => lane)],
    )
  })
}
