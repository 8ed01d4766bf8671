import { literal, type AxisNames, type Names } from '../names.ts'
import { idLock, keyLock, repeats, turnOf } from './append-locks.ts'
import { fromMicros } from './function-parts.ts'

const parameters = `p_ids uuid[], p_versions integer[], p_tenants text[], p_contracts text[], p_ordering_keys text[],
  p_keys text[], p_metadata text[], p_traces text[], p_lanes text[], p_at bigint[], p_after double precision[], p_offsets integer[],
  p_lengths integer[], p_bodies bytea, p_locks boolean, p_turns boolean`
const argumentList = (parameters.match(/p_\w+/g) ?? []).join(', ')

/** Takes the locks of what is written, or answers `!` with the places of the messages whose locks others hold. */
function takeLocks(names: AxisNames): string {
  return `if p_turns then
    perform pg_advisory_xact_lock(t.k) from (
      select distinct ${turnOf(names, 'l.lane')} as k from unnest(p_lanes) l(lane) where l.lane is not null order by 1) t;
  end if;
  if p_locks then
    -- Without the offset the lock would be tried inside of the scans: unsorted, and before it is known whether an id has one.
    select string_agg(t.n::text, ',') into v_taken from (
      select ${idLock(names, 'u.id')} as k, u.n
      from unnest(p_ids) with ordinality u(id, n) where ${repeats('u.id')}
      union all
      select ${keyLock(names, `coalesce(u.tenant, '')`, 'u.key')}, u.n
      from unnest(p_tenants, p_keys) with ordinality u(tenant, key, n) where u.key is not null
      order by 1 offset 0) t
    where not pg_try_advisory_xact_lock(t.k);
    if v_taken is not null then return '!' || v_taken; end if;
  end if;`
}

/** The messages as rows `s`, which tell when they are due, and `m`, which are those that were written. */
function writtenMessages(names: AxisNames): string {
  return `s as materialized (
    -- The transaction has its id before it takes a sequence: the positions of the lease scans rely on it.
    select nextval(case when pg_current_xact_id() is not null
        then '${names.sequence.replaceAll("'", "''")}'::regclass end) as seq, u.*,
      case when u.at is not null then case when ${fromMicros('u.at')} > v_now then ${fromMicros('u.at')} end
        when u.after > 0 then clock_timestamp() + u.after * interval '1 millisecond' end as due_at
    from unnest(p_ids, p_versions, p_tenants, p_contracts, p_ordering_keys, p_keys, p_metadata, p_traces, p_lanes, p_at,
      p_after, p_offsets, p_lengths) with ordinality
      u(id, version, tenant, contract, ordering_key, key, metadata, trace, lane, at, after, start, length, n)
  ), m as (
    insert into ${names.message}
      (seq, created_at, contract_version, id, tenant, contract_name, ordering_key, idempotency_key, metadata, trace, body)
    select s.seq, v_now, s.version, s.id, coalesce(s.tenant, ''), s.contract, s.ordering_key, s.key, s.metadata, s.trace,
      substring(p_bodies from s.start for s.length)
    from s
    on conflict do nothing
    returning seq
  )`
}

/** Wakes those who sleep and look for one of these. */
function wake(shared: Names, names: AxisNames): string {
  return `if v_due and exists (select 1 from ${shared.sleeper} t where t.axis = '${names.axis}' and t.expires_at > v_now
      and (t.contracts is null or t.contracts && p_contracts)
      and (t.tenants is null or t.tenants && coalesce(array_replace(p_tenants, null, ''), array['']))) then
    perform pg_notify(${literal(shared.channel)}, '${names.axis}');
  end if;`
}

/**
 * Writes messages. Runs in the caller's transaction, so nothing in it may fail by waiting: keys are locked without
 * waiting, and a taken id or key is left out instead of raising. Answers `!` with the places of the messages whose
 * locks others hold, or the time of the write in microseconds, with the slots that were written unless all were.
 */
export function appendFunction(shared: Names, names: AxisNames): string {
  return `create function ${names.fn('append')}(${parameters}) returns text
language plpgsql volatile
as $litebus$
declare
  v_now timestamptz;
  v_taken text;
  v_slots text;
  v_written bigint;
  v_due boolean;
begin
  ${takeLocks(names)}
  v_now := date_trunc('milliseconds', clock_timestamp());
  with ${writtenMessages(names)}, q as (
    insert into ${names.queue} (seq, due_at, lane)
    select s.seq, s.due_at, s.lane from s where s.seq in (select m.seq from m)
    returning seq, due_at
  ) select count(*), string_agg((s.n - 1)::text, ',' order by s.n), bool_or(q.due_at is null)
    into v_written, v_slots, v_due from q join s on s.seq = q.seq;
  ${wake(shared, names)}
  return (date_part('epoch', v_now) * 1000)::bigint::text
    || case when v_written = array_length(p_ids, 1) then '' else ':' || coalesce(v_slots, '') end;
end $litebus$`
}

/**
 * The same as {@link appendFunction} for more keys than the lock table of the server should hold: duplicates in flight are waited for, in one
 * savepoint, so that running out of patience leaves the caller's transaction usable.
 */
export function appendManyFunction(names: AxisNames): string {
  return `create function ${names.fn('append_waiting')}(${parameters}) returns text
language plpgsql volatile set lock_timeout = '5s'
as $litebus$
begin
  return ${names.fn('append')}(${argumentList});
exception when lock_not_available or deadlock_detected then
  return '!';
end $litebus$`
}

/**
 * The same as {@link appendFunction} for a caller who wants all of it written by this statement or nothing. Answers
 * `?` when a message met another one: what is to be done then takes more statements, in one transaction. The
 * savepoint undoes what was written, without an error in the log of the server for each duplicate.
 */
export function appendNewFunction(shared: Names, names: AxisNames): string {
  return `create function ${names.fn('append_new')}(${parameters}) returns text
language plpgsql volatile
as $litebus$
declare
  v_now timestamptz;
  v_taken text;
  v_written bigint;
  v_due boolean;
begin
  ${takeLocks(names)}
  v_now := date_trunc('milliseconds', clock_timestamp());
  begin
    with ${writtenMessages(names)}, q as (
      insert into ${names.queue} (seq, due_at, lane) select s.seq, s.due_at, s.lane from s
    ) select (select count(*) from m), (select bool_or(s.due_at is null) from s) into v_written, v_due;
    if v_written < array_length(p_ids, 1) then raise exception using errcode = 'LB002'; end if;
  exception when sqlstate 'LB002' then
    return '?';
  end;
  ${wake(shared, names)}
  return (date_part('epoch', v_now) * 1000)::bigint::text;
end $litebus$`
}
