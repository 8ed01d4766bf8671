import { literal, type AxisNames, type Names } from '../names.ts'
import { idLock, keyLock, repeats, turnOf } from './append-locks.ts'
import { fromMicros } from './function-parts.ts'

/** What a function for one message does beyond writing it. */
interface Variant {
  readonly name: string
  /** Parameters behind the common ones. */
  readonly parameters: string
  /** Runs before anything is written. */
  readonly before: string
  /** What a taken id or key does; empty: it is an error, as nobody has it. */
  readonly onTaken: string
  /** Columns of the message beyond the common ones, with the parameters that fill them. */
  readonly columns: string
  readonly values: string
  /** Finds out when the message is due; null is at once. */
  readonly due: string
  /** Lane of the queue row. */
  readonly lane: string
}

/**
 * The same as {@link appendFunction} for one message, without arrays: most messages are written alone. Most of those
 * have no key and are due at once, which is a function of its own: parameters that are null cost a tenth of the call,
 * and defaults as much. Most have an id of their own, too: looking for another message that has it costs a twentieth of
 * an enqueue.
 */
export function appendOneFunctions(shared: Names, names: AxisNames): readonly string[] {
  return [plain, { ...plain, name: 'append_one_new', onTaken: '' }, full(names)].map((variant) =>
    appendOne(shared, names, variant),
  )
}

const skipTaken = 'on conflict do nothing'

const plain: Variant = {
  name: 'append_one',
  parameters: '',
  before: '',
  onTaken: skipTaken,
  columns: '',
  values: '',
  due: '',
  lane: 'null',
}

function full(names: AxisNames): Variant {
  return {
    name: 'append_one_full',
    parameters: `, p_ordering_key text, p_lane text, p_key text, p_at bigint,
  p_after double precision, p_locks boolean, p_turn boolean`,
    before: `if p_turn then perform pg_advisory_xact_lock(${turnOf(names, 'p_lane')}); end if;
  if p_locks then
    if ${repeats('p_id')} and not pg_try_advisory_xact_lock(${idLock(names, 'p_id')}) then return '!1'; end if;
    if p_key is not null and not pg_try_advisory_xact_lock(${keyLock(names, 'p_tenant', 'p_key')}) then
      return '!1';
    end if;
  end if;`,
    onTaken: skipTaken,
    columns: ', ordering_key, idempotency_key',
    values: ', p_ordering_key, p_key',
    due: `if p_at is not null then
    if ${fromMicros('p_at')} > v_now then v_due := ${fromMicros('p_at')}; end if;
  elsif p_after > 0 then
    v_due := clock_timestamp() + p_after * interval '1 millisecond';
  end if;`,
    lane: 'p_lane',
  }
}

function appendOne(shared: Names, names: AxisNames, variant: Variant): string {
  return `create function ${names.fn(variant.name)}(
  p_id uuid, p_version integer, p_contract text, p_body bytea, p_tenant text, p_metadata text, p_trace text${variant.parameters}
) returns text
language plpgsql volatile
as $litebus$
declare
  v_now timestamptz;
  v_seq bigint;
  v_due timestamptz;
  v_wakes boolean;
begin
  ${variant.before}
  v_now := date_trunc('milliseconds', clock_timestamp());
  -- The transaction has its id before it takes a sequence: the positions of the lease scans rely on it.
  insert into ${names.message}
    (seq, created_at, contract_version, id, tenant, contract_name, metadata, trace, body${variant.columns})
  values (case when pg_current_xact_id() is not null then nextval('${names.sequence.replaceAll("'", "''")}'::regclass) end,
    v_now, p_version, p_id, p_tenant, p_contract, p_metadata, p_trace, p_body${variant.values})
  ${variant.onTaken}
  returning seq into v_seq;
  if v_seq is null then return (date_part('epoch', v_now) * 1000)::bigint::text || ':'; end if;
  ${variant.due}
  -- Whom to wake is asked by the same statement: a query of its own costs as much as this row.
  insert into ${names.queue} (seq, due_at, lane) values (v_seq, v_due, ${variant.lane})
  returning v_due is null and exists (
    select 1 from ${shared.sleeper} t where t.axis = '${names.axis}' and t.expires_at > v_now
      and (t.contracts is null or p_contract = any (t.contracts)) and (t.tenants is null or p_tenant = any (t.tenants)))
  into v_wakes;
  if v_wakes then perform pg_notify(${literal(shared.channel)}, '${names.axis}'); end if;
  return (date_part('epoch', v_now) * 1000)::bigint::text;
end $litebus$`
}
