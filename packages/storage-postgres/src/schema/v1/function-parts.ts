import type { AxisNames } from '../names.ts'

/**
 * Head of every leasing function. Plans are fixed by construction: statistics of a queue are always out of date, and
 * a plan that reads the whole table is what a queue cannot survive. JIT would start on the disabled plans' cost.
 */
export const leasingSettings = `language plpgsql volatile
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off set jit = off set work_mem = '32MB'`

/** For functions whose plans do not depend on their arguments: planning every call anew would cost a tenth of it. */
export const onePlan = 'set plan_cache_mode = force_generic_plan'

/** Columns of a leased row, in the order of the decoder; the header row has a null sequence. */
export const leasedColumns = `o_seq text, o_attempts text, o_first_failure text, o_id text, o_created text,
  o_tenant text, o_contract text, o_version text, o_ordering_key text, o_key text, o_metadata text, o_trace text, o_body bytea`

/** Selects a leased row `l` with its message `m`; attempts may carry the due time of the row behind a colon. */
export const leasedSelection: string = selectionWith('l.attempts::text')

/** The same with another expression for the attempts. */
export function selectionWith(attempts: string): string {
  return `l.seq::text, ${attempts},
    (date_part('epoch', l.first_failure_at) * 1000)::bigint::text, m.id::text,
    (date_part('epoch', m.created_at) * 1000)::bigint::text, nullif(m.tenant, ''), m.contract_name,
    m.contract_version::text, m.ordering_key, m.idempotency_key, m.metadata, m.trace, m.body`
}

/**
 * Refuses other isolation levels. Leasing decides in several statements, each of which must see what committed
 * before it; the caller answers this code with an explicit READ COMMITTED transaction.
 */
export const isolationGuard = `if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'LB001',
      message = 'expected isolation level read committed, found ' || current_setting('transaction_isolation');
  end if;`

/** True for rows of an alias that the request's tenants and contracts let through. */
export function filterOf(names: AxisNames, alias = 'q'): string {
  return `(v_unfiltered or exists (
        select 1 from ${names.message} f where f.seq = ${alias}.seq
          and (p_tenants is null or f.tenant = any (p_tenants))
          and (p_contracts is null or f.contract_name = any (p_contracts))))`
}

/** Appends one failed attempt to a history, keeping the last 20. */
export function withFailure(history: string, failure: string): string {
  return `case when jsonb_array_length(coalesce(${history}, '[]')) >= 20
      then ${history} - 0 else coalesce(${history}, '[]') end || ${failure}`
}

/** The record of an attempt that failed by `category` and `code` at `at`. */
export function failureRecord(parts: {
  readonly attempt: string
  readonly category: string
  readonly code: string
  readonly at: string
}): string {
  return `jsonb_build_object('n', ${parts.attempt}, 'c', ${parts.category}, 'k', ${parts.code},
      't', (date_part('epoch', ${parts.at}) * 1000)::bigint)`
}

/** Microseconds since the epoch of a timestamp. */
export function micros(expression: string): string {
  return `(date_part('epoch', ${expression}) * 1000000)::bigint`
}

/** A timestamp from microseconds since the epoch. */
export function fromMicros(expression: string): string {
  return `(timestamptz 'epoch' + ${expression} * interval '1 microsecond')`
}
