import type { AxisNames } from '../names.ts'
import { failureRecord, isolationGuard, leasingSettings, onePlan, withFailure } from './function-parts.ts'

/** Rows of the given leases that still stand, locked in sequence order: two settles that meet must not deadlock. */
function fencedRows(names: AxisNames): string {
  return `select q.seq from unnest(p_seqs, p_generations) u(seq, generation)
      join ${names.queue} q on q.seq = u.seq
    where q.generation = u.generation and q.owner = p_owner
    order by q.seq for update of q`
}

/**
 * Records successes: the queue row goes, a narrow row of the done table comes. Answers the sequences that applied.
 * The join is a loop over the sorted leases, so rows are locked in sequence order here, too.
 */
export function settleSucceededFunction(names: AxisNames): string {
  return `create function ${names.fn('settle_succeeded')}(p_seqs bigint[], p_generations bigint[], p_owner text)
returns text
${leasingSettings} set enable_hashjoin = off ${onePlan}
as $litebus$
declare
  v_applied text;
begin
  ${isolationGuard}
  with d as (
    delete from ${names.queue} q
    using (select u.seq, u.generation from unnest(p_seqs, p_generations) u(seq, generation) order by u.seq) u
    where q.seq = u.seq and q.generation = u.generation and q.owner = p_owner
    returning q.seq, q.generation
  ), i as (
    insert into ${names.done} (seq, ended_at) select d.seq, clock_timestamp() from d
  ) select case when count(*) = array_length(p_seqs, 1) then '*'
      else string_agg(d.seq || ':' || d.generation, ',') end
    into v_applied from d;
  return v_applied;
end $litebus$`
}

/** Records failures: another attempt later, or a dead letter with its history. Answers the sequences that applied. */
export function settleFailedFunction(names: AxisNames): string {
  const failure = failureRecord({
    attempt: 'q.attempts',
    category: 'l.category',
    code: 'l.code',
    at: 'v_now',
  })
  return `create function ${names.fn('settle_failed')}(
  p_seqs bigint[], p_generations bigint[], p_owner text, p_delays double precision[], p_categories text[],
  p_codes text[]
) returns text
${leasingSettings} set enable_hashjoin = off
as $litebus$
declare
  v_now timestamptz;
  v_applied text;
begin
  ${isolationGuard}
  perform 1 from (${fencedRows(names)}) l;
  v_now := clock_timestamp();
  with l as materialized (
    select q.seq, q.generation, u.delay, u.category, u.code
    from unnest(p_seqs, p_generations, p_delays, p_categories, p_codes) u(seq, generation, delay, category, code)
      join ${names.queue} q on q.seq = u.seq
    where q.generation = u.generation and q.owner = p_owner
  ), r as (
    update ${names.queue} q set lease_expires_at = null, owner = null, generation = null, suspect = false,
      due_at = v_now + l.delay * interval '1 millisecond',
      first_failure_at = coalesce(q.first_failure_at, v_now), failures = ${withFailure('q.failures', failure)}
    from l where q.seq = l.seq and l.delay is not null
    returning q.seq, l.generation
  ), d as (
    delete from ${names.queue} q using l where q.seq = l.seq and l.delay is null
    returning q.seq, q.lane, q.attempts, coalesce(q.first_failure_at, v_now) as first_failure_at,
      l.category, l.code, l.generation, ${withFailure('q.failures', failure)} as failures
  ), i as (
    insert into ${names.dead} (seq, ended_at, attempts, blocks, lane, category, code, first_failure_at, failures)
    select d.seq, v_now, d.attempts, true, d.lane, d.category, d.code, d.first_failure_at, d.failures from d
  ) select string_agg(a.seq || ':' || a.generation, ',') into v_applied
    from (select r.seq, r.generation from r union all select d.seq, d.generation from d) a;
  return v_applied;
end $litebus$`
}

/** Gives leases back with their attempts. A suspect stays one, because it has not run to an end. */
export function releaseFunction(names: AxisNames): string {
  return `create function ${names.fn('release')}(
  p_seqs bigint[], p_generations bigint[], p_owner text, p_delay double precision
) returns void
${leasingSettings} set enable_hashjoin = off
as $litebus$
begin
  ${isolationGuard}
  with l as materialized (
    ${fencedRows(names)}
  ) update ${names.queue} q set lease_expires_at = null, owner = null, generation = null,
      attempts = greatest(q.attempts - 1, 0), due_at = clock_timestamp() + p_delay * interval '1 millisecond'
    where q.seq = any (array(select l.seq from l));
end $litebus$`
}

/**
 * Extends leases. Rows that somebody has locked are skipped, not waited for: a handler whose transaction holds its
 * row must not stall the renewal of the others. Answers one letter a lease: renewed, skipped or lost.
 */
export function renewFunction(names: AxisNames): string {
  return `create function ${names.fn('renew')}(
  p_seqs bigint[], p_generations bigint[], p_owner text, p_lease_ms double precision
) returns text
${leasingSettings} set enable_hashjoin = off
as $litebus$
declare
  v_result text;
  v_renewed bigint[];
begin
  ${isolationGuard}
  with l as materialized (
    ${fencedRows(names)} skip locked
  ), r as (
    update ${names.queue} q set lease_expires_at = clock_timestamp() + p_lease_ms * interval '1 millisecond'
    where q.seq = any (array(select l.seq from l)) returning q.seq
  ) select array_agg(r.seq) into v_renewed from r;
  if array_length(v_renewed, 1) = array_length(p_seqs, 1) then return '*'; end if;
  select string_agg(
    case when u.seq = any (v_renewed) then 'r' when q.seq is not null then 's' else 'l' end, '' order by u.n)
  into v_result
  from unnest(p_seqs, p_generations) with ordinality u(seq, generation, n)
    left join ${names.queue} q on q.seq = u.seq and q.generation = u.generation and q.owner = p_owner;
  return v_result;
end $litebus$`
}
