import type { AxisNames } from '../names.ts'
import { filterOf, fromMicros, isolationGuard, leasingSettings, micros } from './function-parts.ts'

/**
 * Looks at what the scans have passed, from the lowest row that may live: what expired there, and, below where scans
 * start, what another process passed over and lost, or what committed too late. Such rows become due now, above all
 * positions.
 */
export function sweepFunction(names: AxisNames): string {
  return `create function ${names.fn('sweep')}(
  p_from bigint, p_start bigint, p_to bigint, p_due_from bigint, p_due_to bigint, p_tenants text[], p_contracts text[]
) returns text
${leasingSettings} set enable_hashjoin = off
as $litebus$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_xmin text := pg_snapshot_xmin(pg_current_snapshot())::text;
  v_due_from timestamptz := ${fromMicros('p_due_from')};
  v_due_to timestamptz := ${fromMicros('p_due_to')};
  v_unfiltered boolean := p_tenants is null and p_contracts is null;
  v_low bigint;
  v_due_low timestamptz;
begin
  ${isolationGuard}
  update ${names.queue} q set due_at = clock_timestamp() where q.seq = any (array(
    select q.seq from ${names.queue} q
    where q.seq > p_from and q.seq <= p_to and q.lane is null and q.due_at is null
      and ((q.lease_expires_at is null and q.seq <= p_start) or q.lease_expires_at <= v_now) and ${filterOf(names)}
    order by q.seq limit 1000 for update skip locked));
  update ${names.queue} q set due_at = clock_timestamp() where q.seq = any (array(
    select q.seq from ${names.queue} q
    where q.lane is null and q.due_at is not null and q.due_at >= v_due_from and q.due_at < v_due_to
      and (q.lease_expires_at is null or q.lease_expires_at <= v_now) and ${filterOf(names)}
    order by q.due_at limit 1000 for update skip locked));
  select q.seq into v_low from ${names.queue} q
  where q.seq > p_from and q.seq <= p_to and q.lane is null and q.due_at is null order by q.seq limit 1;
  select q.due_at into v_due_low from ${names.queue} q
  where q.lane is null and q.due_at is not null and q.due_at >= v_due_from and q.due_at < v_due_to
  order by q.due_at limit 1;
  return json_build_object(
    'low', coalesce(v_low - 1, p_to), 'dueLow', coalesce(${micros('v_due_low')}, p_due_to),
    'xmin', v_xmin, 'xid', pg_current_xact_id()::text)::text;
end $litebus$`
}
