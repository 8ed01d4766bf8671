import type { AxisNames } from '../names.ts'
import {
  failureRecord,
  filterOf,
  fromMicros,
  isolationGuard,
  leasedColumns,
  leasedSelection,
  leasingSettings,
  withFailure,
} from './function-parts.ts'
import { laneLockSlots } from './lease-lanes.ts'

/** Leases exactly one row whose lease expired, or that was given back after that: unordered ones first, then lane heads. */
export function leaseSuspectFunction(names: AxisNames): string {
  const expired = failureRecord({
    attempt: 'q.attempts',
    category: `'UNKNOWN'`,
    code: `'LEASE_EXPIRED'`,
    at: 'v_now',
  })
  return `create function ${names.fn('lease_suspect')}(
  p_due_from bigint, p_lanes text[], p_owner text, p_lease_ms double precision, p_max_attempts integer,
  p_policy text, p_tenants text[], p_contracts text[]
) returns table (${leasedColumns})
${leasingSettings} set enable_hashjoin = off
as $litebus$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_unfiltered boolean := p_tenants is null and p_contracts is null;
  v_generation bigint := nextval('${names.generation.replaceAll("'", "''")}'::regclass);
  v_seq bigint;
  v_head bigint;
  v_lane text;
begin
  ${isolationGuard}
  select q.seq into v_seq from ${names.queue} q
  where q.lane is null and q.due_at is not null and q.due_at >= ${fromMicros('p_due_from')} and q.due_at <= v_now
    and ((q.suspect and q.lease_expires_at is null) or (q.lease_expires_at <= v_now and q.attempts < p_max_attempts))
    and ${filterOf(names)}
  order by q.due_at limit 1 for update skip locked;
  if v_seq is null then
    foreach v_lane in array coalesce(p_lanes, '{}') loop
      continue when not pg_try_advisory_xact_lock(
        ${String(names.laneLockClass)}, hashtext(v_lane) & ${String(laneLockSlots - 1)});
      continue when p_policy <> 'skip' and exists (
        select 1 from ${names.dead} d where d.lane = v_lane and d.blocks);
      continue when exists (select 1 from ${names.queue} q where q.lane = v_lane and q.lease_expires_at > v_now);
      select q.seq into v_head from ${names.queue} q where q.lane = v_lane order by q.lane, q.seq limit 1;
      select q.seq into v_seq from ${names.queue} q
      where q.seq = v_head
        and ((q.suspect and q.lease_expires_at is null and (q.due_at is null or q.due_at <= v_now))
          or (q.lease_expires_at <= v_now and q.attempts < p_max_attempts))
        and ${filterOf(names)}
      for update skip locked;
      exit when v_seq is not null;
    end loop;
    update ${names.lane} t set generation = v_generation, run_from = v_seq, run_to = v_seq, used_at = v_now
    where v_seq is not null and t.lane = v_lane;
  end if;
  return query with l as (
    update ${names.queue} q
    set lease_expires_at = v_now + p_lease_ms * interval '1 millisecond', owner = p_owner, generation = v_generation,
      attempts = q.attempts + 1, suspect = true,
      first_failure_at = case when q.lease_expires_at is null then q.first_failure_at
        else coalesce(q.first_failure_at, v_now) end,
      failures = case when q.lease_expires_at is null then q.failures else ${withFailure('q.failures', expired)} end
    where q.seq = v_seq
    returning q.seq, q.attempts, q.first_failure_at
  ) select ${leasedSelection} from l join ${names.message} m on m.seq = l.seq;
  o_metadata := json_build_object('generation', v_generation)::text;
  return next;
end $litebus$`
}
