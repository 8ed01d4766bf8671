import type { AxisNames } from '../names.ts'
import {
  failureRecord,
  filterOf,
  isolationGuard,
  leasedColumns,
  leasingSettings,
  micros,
  selectionWith,
  withFailure,
} from './function-parts.ts'

/** Lanes share this many mutexes, so that a lease cannot fill the lock table of the server. */
export const laneLockSlots = 1024

/**
 * Leases rows of ordering keys, in steps that each see what committed before them, because no single statement is
 * safe: workers with different snapshots lock different heads of one key.
 *
 * 1. Walk the next lanes after a cursor by their heads. Where a lane row exists, its position spares the dead entries.
 * 2. Take a mutex a lane, never waiting.
 * 3. With a fresh snapshot: the first rows of each lane from its position on, cut at the first that is not due; lanes
 *    with a run in flight drop out. A window that holds the whole lane shows every lease of it. Where it does not, the
 *    lane row points at the latest run; a lane without one is read to its end once and gets one.
 * 4. Lock without waiting, keep the longest locked prefix, write the lease.
 */
export function leaseLanesFunction(names: AxisNames): string {
  const expired = failureRecord({
    attempt: 'x.attempts',
    category: `'UNKNOWN'`,
    code: `'LEASE_EXPIRED'`,
    at: 'v_now',
  })
  const parked = failureRecord({
    attempt: 'x.attempts',
    category: `'UNKNOWN'`,
    code: `'KEY_PARKED'`,
    at: 'v_now',
  })
  const step = (from: string): string => `
      left join lateral (
        select t.lane, t.safe_from as from_seq
        from ${names.lane} t where t.lane > ${from}.lane order by t.lane limit 1
      ) t on true
      left join lateral (
        select q.lane, q.seq, q.due_at, q.lease_expires_at, q.suspect, q.attempts
        from ${names.queue} q where q.lane > ${from}.lane and q.lane < coalesce(t.lane, ':')
        order by q.lane, q.seq limit 1
      ) g on true`
  const sequence = names.generation.replaceAll("'", "''")
  const walked = `coalesce(g.lane, t.lane), case when g.lane is null then t.from_seq else 0 end,
        g.seq, g.due_at, g.lease_expires_at, g.suspect, g.attempts`
  return `create function ${names.fn('lease_lanes')}(
  p_cursor text, p_keys integer, p_per_key integer, p_limit integer, p_owner text, p_lease_ms double precision,
  p_max_attempts integer, p_policy text, p_busy text[], p_tenants text[], p_contracts text[]
) returns table (${leasedColumns})
${leasingSettings}
as $litebus$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_xmin bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  v_unfiltered boolean := p_tenants is null and p_contracts is null;
  v_letters boolean;
  v_generation bigint;
  v_lanes text[];
  v_park text[];
  v_exhausted bigint[];
  v_suspects text[];
  v_last text;
  v_walked integer;
  v_parked bigint := 0;
  v_count bigint;
  v_next timestamptz;
begin
  ${isolationGuard}
  select p_policy <> 'skip' and exists (
    select 1 from ${names.dead} d where d.lane is not null and d.blocks) into v_letters;
  with recursive k(lane, from_seq, seq, due_at, lease_expires_at, suspect, attempts, n) as (
    select ${walked}, 1 from (select p_cursor as lane) s ${step('s')}
    union all
    select ${walked}, k.n + 1 from k ${step('k')}
    where k.lane is not null and k.n < p_keys
  ), h as (
    select k.n, k.lane, k.from_seq, coalesce(k.seq, r.seq) as seq, coalesce(k.due_at, r.due_at) as due_at,
      coalesce(k.lease_expires_at, r.lease_expires_at) as lease_expires_at, coalesce(k.suspect, r.suspect) as suspect,
      coalesce(k.attempts, r.attempts) as attempts,
      v_letters and exists (select 1 from ${names.dead} d where d.lane = k.lane and d.blocks) as stopped
    from k left join lateral (
      select q.seq, q.due_at, q.lease_expires_at, q.suspect, q.attempts from ${names.queue} q
      where k.seq is null and q.lane = k.lane and q.seq >= k.from_seq order by q.lane, q.seq limit 1
    ) r on true
    where k.lane is not null
  ), c as (
    select h.*, h.seq is not null and ${filterOf(names, 'h')} as wanted from h
  )
  select count(*), max(c.lane),
    array_agg(c.lane order by c.n) filter (where c.wanted and not c.stopped and not c.suspect
      and c.lease_expires_at is null and (c.due_at is null or c.due_at <= v_now)),
    array_agg(c.lane) filter (where c.wanted and c.stopped),
    array_agg(c.seq) filter (where c.wanted and not c.stopped
      and c.lease_expires_at <= v_now and c.attempts >= p_max_attempts),
    array_agg(c.lane) filter (where c.wanted and not c.stopped and (
      (c.lease_expires_at <= v_now and c.attempts < p_max_attempts)
      or (c.suspect and c.lease_expires_at is null and (c.due_at is null or c.due_at <= v_now))))
  into v_walked, v_last, v_lanes, v_park, v_exhausted, v_suspects from c;

  select array_agg(u.lane order by u.n) into v_lanes from unnest(v_lanes) with ordinality u(lane, n)
  where pg_try_advisory_xact_lock(${String(names.laneLockClass)}, hashtext(u.lane) & ${String(laneLockSlots - 1)});

  if v_lanes is not null then
    -- No two of these steps are joined: a join of two intermediate results is planned blind, and quadratic at worst.
    return query with w as (
      -- The position of the walk is from before the mutex: what was requeued since stands before it.
      select u.n, u.lane, q.seq, q.ok, q.held, t.lane is not null as marked, t.run_from, t.run_to, t.generation
      from unnest(v_lanes) with ordinality u(lane, n)
      left join lateral (select t.* from ${names.lane} t where t.lane = u.lane offset 0) t on true
      cross join lateral (
        select q.seq, coalesce(q.lease_expires_at > v_now, false) as held,
          (q.due_at is null or q.due_at <= v_now) and q.lease_expires_at is null and not q.suspect
            and ${filterOf(names)} as ok
        from ${names.queue} q where q.lane = u.lane and q.seq >= coalesce(t.safe_from, 0)
        order by q.lane, q.seq limit p_per_key + 1
      ) q
    ), f as (
      select w.*, row_number() over o as rn, count(*) over p > p_per_key as partial, max(w.seq) over p as last,
        bool_or(w.held) over p as busy, bool_and(w.ok) over o as prefix
      from w window p as (partition by w.n), o as (partition by w.n order by w.seq)
    ), c as (
      select f.*, bool_or(case
          when f.rn > 1 or f.busy or not f.prefix then f.busy
          when f.marked and (not f.partial or f.last >= f.run_to) then false
          when f.marked then exists (
            select 1 from ${names.queue} q where q.lane = f.lane and q.seq between f.run_from and f.run_to
              and q.generation = f.generation and q.lease_expires_at > v_now)
          when f.partial then exists (
            select 1 from ${names.queue} q where q.lane = f.lane and q.lease_expires_at > v_now)
          else false
        end) over (partition by f.n) as taken
      from f
    ), pick as materialized (
      select s.* from (
        select c.n, c.lane, c.seq, c.marked or c.partial as marks,
          row_number() over (order by c.n, c.seq) as place
        from c where not c.taken and c.prefix and c.rn <= p_per_key
      ) s where s.place <= p_limit
    ), locked as materialized (
      select q.seq, q.attempts, q.first_failure_at from ${names.queue} q
      where q.seq = any (array(select pick.seq from pick))
        and q.lease_expires_at is null and not q.suspect and (q.due_at is null or q.due_at <= v_now)
      for update skip locked
    ), run as materialized (
      select s.* from (
        select b.*, bool_and(b.attempts is not null) over (partition by b.n order by b.seq) as ok
        from (
          select max(a.n) as n, a.seq, max(a.lane) as lane, bool_or(a.marks) as marks,
            max(a.attempts) as attempts, max(a.first_failure_at) as first_failure_at
          from (
            select p.n, p.seq, p.lane, p.marks, null::integer as attempts, null::timestamptz as first_failure_at
            from pick p
            union all
            select null, k.seq, null, null, k.attempts, k.first_failure_at from locked k
          ) a group by a.seq
        ) b
      ) s where s.ok
    ), g as materialized (
      select nextval('${sequence}'::regclass) as generation where exists (select 1 from run)
    ), u as (
      update ${names.queue} q
      set lease_expires_at = v_now + p_lease_ms * interval '1 millisecond', owner = p_owner,
        generation = (select g.generation from g), attempts = q.attempts + 1
      where q.seq = any (array(select run.seq from run))
    ), mark as (
      insert into ${names.lane} as t
        (lane, generation, run_from, run_to, safe_from, pending_from, pending_xid, used_at)
      select r.lane, (select g.generation from g), min(r.seq), max(r.seq), 0, max(r.seq) + 1,
        pg_current_xact_id()::text::bigint, v_now
      from run r where r.marks or r.lane = any (p_busy)
      group by r.lane
      on conflict (lane) do update set generation = excluded.generation, run_from = excluded.run_from,
        run_to = excluded.run_to,
        safe_from = case when t.pending_xid <= v_xmin then least(t.pending_from, excluded.run_from)
          else t.safe_from end,
        pending_from = case when t.pending_xid > v_xmin then t.pending_from else excluded.pending_from end,
        pending_xid = case when t.pending_xid > v_xmin then t.pending_xid else excluded.pending_xid end,
        used_at = excluded.used_at
    )
    select ${selectionWith('(l.attempts + 1)::text')}
    from run l cross join lateral (select m.* from ${names.message} m where m.seq = l.seq offset 0) m
    order by l.n, l.seq;
    if found then v_generation := currval('${sequence}'::regclass); end if;
  end if;
  -- Parking comes last, and the sequence is asked by the statement that leases: the id of this transaction must be
  -- younger than what that statement sees, see pending_xid.
  if v_exhausted is not null then
    with x as (
      delete from ${names.queue} q where q.seq = any (array(
        select q.seq from ${names.queue} q where q.seq = any (v_exhausted)
          and q.lease_expires_at <= v_now and q.attempts >= p_max_attempts
        order by q.seq for update skip locked))
      returning q.seq, q.lane, q.attempts, q.first_failure_at, q.failures
    ), i as (
      insert into ${names.dead} (seq, ended_at, attempts, blocks, lane, category, code, first_failure_at, failures)
      select x.seq, v_now, x.attempts, true, x.lane, 'UNKNOWN', 'LEASE_EXPIRED',
        coalesce(x.first_failure_at, v_now), ${withFailure('x.failures', expired)}
      from x
    ) select count(*) into v_parked from x;
  end if;
  if p_policy = 'park' and v_park is not null then
    with x as (
      delete from ${names.queue} q where q.seq = any (array(
        select q.seq from unnest(v_park) u(lane) cross join lateral (
          select q.seq from ${names.queue} q
          where q.lane = u.lane and q.lease_expires_at is null and ${filterOf(names)}
          order by q.lane, q.seq limit 1000 for update skip locked) q))
      returning q.seq, q.lane, q.attempts, q.first_failure_at, q.failures
    ), i as (
      insert into ${names.dead} (seq, ended_at, attempts, blocks, lane, category, code, first_failure_at, failures)
      select x.seq, v_now, x.attempts, false, x.lane, 'UNKNOWN', 'KEY_PARKED',
        coalesce(x.first_failure_at, v_now), ${withFailure('x.failures', parked)}
      from x
    ) select count(*) into v_count from x;
    v_parked := v_parked + v_count;
  end if;
  select q.due_at into v_next from ${names.queue} q
  where q.lane is not null and q.due_at is not null and q.due_at > v_now order by q.due_at limit 1;
  o_metadata := json_build_object(
    'generation', v_generation, 'now', ${micros('v_now')}, 'nextDue', ${micros('v_next')}, 'walked', v_walked, 'last', v_last, 'parked', v_parked, 'suspects', v_suspects,
    'candidates', coalesce(array_length(v_lanes, 1), 0))::text;
  return next;
end $litebus$`
}
