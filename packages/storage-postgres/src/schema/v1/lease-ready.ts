import type { AxisNames } from '../names.ts'
import {
  failureRecord,
  filterOf,
  fromMicros,
  isolationGuard,
  leasedColumns,
  leasingSettings,
  micros,
  onePlan,
  selectionWith,
  withFailure,
} from './function-parts.ts'

/**
 * Leases rows without ordering key: due ones by time, then ready ones by position. The header tells how far the
 * scan came, and under which snapshot, so that the next one need not walk over what is dead.
 */
export function leaseReadyFunction(names: AxisNames): string {
  const expired = failureRecord({
    attempt: 'x.attempts',
    category: `'UNKNOWN'`,
    code: `'LEASE_EXPIRED'`,
    at: 'v_now',
  })
  return `create function ${names.fn('lease_ready')}(
  p_from bigint, p_due_from bigint, p_due_limit integer, p_limit integer, p_owner text, p_lease_ms double precision,
  p_max_attempts integer, p_marks boolean, p_lanes boolean, p_lanes_if_full boolean, p_tenants text[], p_contracts text[]
) returns table (${leasedColumns})
${leasingSettings} set enable_hashjoin = off ${onePlan}
as $litebus$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_xmin text := pg_snapshot_xmin(pg_current_snapshot())::text;
  v_due_from timestamptz := ${fromMicros('p_due_from')};
  v_unfiltered boolean := p_tenants is null and p_contracts is null;
  v_generation bigint := nextval('${names.generation.replaceAll("'", "''")}'::regclass);
  v_sequence bigint;
  v_suspect timestamptz;
  v_parked bigint := 0;
  v_next timestamptz;
  v_leased bigint;
  v_lanes boolean;
begin
  ${isolationGuard}
  select case when is_called then last_value else 0 end into v_sequence from ${names.sequence};
  return query with due as materialized (
    select q.seq, q.due_at from ${names.queue} q
    where q.lane is null and q.due_at is not null and q.due_at >= v_due_from and q.due_at <= v_now
      and q.lease_expires_at is null and not q.suspect and ${filterOf(names)}
    order by q.due_at limit p_due_limit for update skip locked
  ), ready as materialized (
    select q.seq from ${names.queue} q
    where q.seq > p_from and q.lane is null and q.due_at is null and q.lease_expires_at is null and ${filterOf(names)}
    order by q.seq limit p_limit - (select count(*) from due) for update skip locked
  ), l as (
    update ${names.queue} q
    set lease_expires_at = v_now + p_lease_ms * interval '1 millisecond', owner = p_owner,
      generation = v_generation, attempts = q.attempts + 1
    from (select d.seq from due d union all select r.seq from ready r) c
    where q.seq = c.seq
    returning q.seq, q.attempts, q.first_failure_at, q.due_at
  )
  select ${selectionWith(`l.attempts::text || coalesce(':' || ${micros('l.due_at')}::text, '')`)}
  from l join ${names.message} m on m.seq = l.seq;
  get diagnostics v_leased = row_count;
  -- Spares the caller a second statement when no row has an ordering key.
  if p_lanes and (p_lanes_if_full or v_leased < p_limit) then
    v_lanes := exists (select 1 from ${names.queue} q where q.lane is not null order by q.lane, q.seq limit 1);
  end if;

  select min(q.due_at) into v_suspect from ${names.queue} q
  where q.lane is null and q.due_at is not null and q.due_at >= v_due_from and q.due_at <= v_now
    and ((q.suspect and q.lease_expires_at is null) or q.lease_expires_at <= v_now) and ${filterOf(names)};
  if v_suspect is not null then
    with x as (
      delete from ${names.queue} q where q.seq = any (array(
        select q.seq from ${names.queue} q
        where q.lane is null and q.due_at is not null and q.due_at >= v_suspect and q.due_at <= v_now
          and q.lease_expires_at <= v_now and q.attempts >= p_max_attempts and ${filterOf(names)}
        order by q.due_at limit 1000 for update skip locked))
      returning q.seq, q.attempts, q.first_failure_at, q.failures
    ), i as (
      insert into ${names.dead} (seq, ended_at, attempts, blocks, category, code, first_failure_at, failures)
      select x.seq, v_now, x.attempts, true, 'UNKNOWN', 'LEASE_EXPIRED', coalesce(x.first_failure_at, v_now),
        ${withFailure('x.failures', expired)}
      from x
    ) select count(*) into v_parked from x;
    select min(q.due_at) into v_suspect from ${names.queue} q
    where q.lane is null and q.due_at is not null and q.due_at >= v_suspect and q.due_at <= v_now
      and ((q.suspect and q.lease_expires_at is null) or q.lease_expires_at <= v_now) and ${filterOf(names)};
  end if;
  select q.due_at into v_next from ${names.queue} q
  where q.lane is null and q.due_at is not null and q.due_at > v_now order by q.due_at limit 1;
  o_metadata := json_build_object(
    'generation', v_generation, 'sequence', v_sequence, 'parked', v_parked, 'now', ${micros('v_now')},
    'suspect', ${micros('v_suspect')}, 'nextDue', ${micros('v_next')},
    'xmin', v_xmin, 'lanes', v_lanes,
    'xid', case when p_marks then pg_current_xact_id() else pg_current_xact_id_if_assigned() end::text)::text;
  return next;
end $litebus$`
}
