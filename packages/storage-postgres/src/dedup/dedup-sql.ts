import { isMarked } from '../database/database.ts'
import type { Names } from '../schema/names.ts'

/**
 * Claims a key: a new row, or one whose lease has expired. A row that a transaction has locked to complete it is
 * skipped, not waited for. Answers state and generation; nothing when another claim commits meanwhile.
 */
export function claimSql(names: Names): string {
  const expiry = `clock_timestamp() + $2::float8 * interval '1 millisecond'`
  const generation = `nextval('${names.dedupGeneration.replaceAll("'", "''")}'::regclass)`
  return `with taken as (
  update ${names.dedup} d set generation = ${generation}, expires_at = ${expiry}
  where d.key = any (array(select f.key from ${names.dedup} f
    where f.key = $1::text and f.expires_at <= clock_timestamp() for update skip locked))
  returning d.generation
), made as (
  insert into ${names.dedup} (key, generation, expires_at)
  select $1::text, ${generation}, ${expiry} where not exists (select from ${names.dedup} f where f.key = $1::text)
  on conflict (key) do nothing
  returning generation
)
select 'claimed', t.generation::text from taken t
union all select 'claimed', m.generation::text from made m
union all select case when d.ended_at is null then 'inProgress' else 'completed' end, d.generation::text
  from ${names.dedup} d where d.key = $1::text and not exists (select from taken) and not exists (select from made)`
}

/** Records that the work of a claim is done, now or before. */
export function completeSql(names: Names): string {
  return `update ${names.dedup} d set expires_at = null, ended_at = coalesce(d.ended_at, clock_timestamp())
  where d.key = $1::text and d.generation = $2::bigint returning 1::text`
}

/** The same in the transaction of a handler: nothing, and `!` as the answer, where the handler has ended it. */
export function completeMarkedSql(names: Names): string {
  return `with c as (
  update ${names.dedup} d set expires_at = null, ended_at = coalesce(d.ended_at, clock_timestamp())
  where d.key = $1::text and d.generation = $2::bigint and ${isMarked} returning 1
) select case when not coalesce(${isMarked}, false) then '!' when exists (select from c) then '*' end`
}

/** Gives a claim back that was not completed. */
export function releaseSql(names: Names): string {
  return `delete from ${names.dedup} d where d.key = $1::text and d.generation = $2::bigint and d.ended_at is null`
}

/** Forgets what ended long ago, oldest first: what is being used is skipped. */
export function retentionSql(names: Names): string {
  return `with f as (
  delete from ${names.dedup} d where d.key = any (array(
    select o.key from ${names.dedup} o
    where coalesce(o.ended_at, o.expires_at) <= clock_timestamp() - $1::float8 * interval '1 millisecond'
    order by coalesce(o.ended_at, o.expires_at) limit $2::bigint for update skip locked))
  returning 1
) select count(*)::text from f`
}
