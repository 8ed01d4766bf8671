import type { AxisNames, Names } from '../names.ts'

/** Tables that both axes share. */
export function sharedTables(names: Names): readonly string[] {
  return [
    // Unlogged: after a crash nobody sleeps. A row expires, or dead sleepers would bring back a NOTIFY per commit.
    // Contracts and tenants are what the sleeper looks for; null: everything.
    `create unlogged table ${names.sleeper} (
  id text primary key,
  axis text not null,
  expires_at timestamptz not null,
  contracts text[] collate "C",
  tenants text[] collate "C"
) with (fillfactor = 50)`,
    ...dedupTables(names),
  ]
}

/** Keys of consumers without an inbox: held until `expires_at`, or completed at `ended_at`. */
function dedupTables(names: Names): readonly string[] {
  return [
    `create sequence ${names.dedupGeneration} as bigint`,
    `create table ${names.dedup} (
  generation bigint not null,
  expires_at timestamptz,
  ended_at timestamptz,
  key text collate "C" primary key
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
)`,
    `create index ${names.index('dedup_ended')} on ${names.dedup} (coalesce(ended_at, expires_at))`,
  ]
}

/**
 * Tables of one axis. A message is written once; what changes lives in a narrow queue row that is deleted at the
 * end. Where the row is, is its state: queue, done or dead.
 */
export function axisTables(names: AxisNames): readonly string[] {
  return [
    `create sequence ${names.sequence} as bigint cache 1`,
    `create sequence ${names.generation} as bigint`,
    `create table ${names.message} (
  seq bigint primary key,
  created_at timestamptz not null,
  contract_version integer not null,
  id uuid not null,
  tenant text collate "C" not null,
  contract_name text collate "C" not null,
  ordering_key text collate "C",
  idempotency_key text collate "C",
  metadata text,
  trace text,
  body bytea,
  body_digest bytea
) with (autovacuum_vacuum_insert_scale_factor = 0.05)`,
    // Cheaper to write and to read than the default; servers can be built without it.
    `do $litebus$ begin
  if exists (select 1 from pg_catalog.pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)) then
    alter table ${names.message} alter column body set compression lz4;
  end if;
end $litebus$`,
    `create unique index ${names.index('message_id')} on ${names.message} (id)`,
    `create unique index ${names.index('message_key')} on ${names.message} (tenant, idempotency_key)
  where idempotency_key is not null`,
    // A leased row is twice as wide as one that waits: pages that are a third full keep nearly every lease on its page (HOT),
    // also under an old snapshot, which lets nothing be pruned. The queue is small, so space is no matter.
    `create table ${names.queue} (
  seq bigint primary key,
  due_at timestamptz,
  lease_expires_at timestamptz,
  generation bigint,
  attempts integer not null default 0,
  suspect boolean not null default false,
  lane text collate "C",
  owner text collate "C",
  first_failure_at timestamptz,
  failures jsonb
) with (
  fillfactor = 34,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
)`,
    // Null due_at means ready: such rows are found by position on the primary key and cost no further index.
    `create index ${names.index('queue_due')} on ${names.queue} (due_at) where due_at is not null and lane is null`,
    `create index ${names.index('queue_lane_due')} on ${names.queue} (due_at)
  where due_at is not null and lane is not null`,
    `create index ${names.index('queue_lane')} on ${names.queue} (lane, seq) where lane is not null`,
    `create table ${names.done} (
  seq bigint primary key,
  ended_at timestamptz not null,
  payload_deleted boolean not null default false
) with (autovacuum_vacuum_insert_scale_factor = 0.05)`,
    `create index ${names.index('done_payload')} on ${names.done} (ended_at) where not payload_deleted`,
    `create index ${names.index('done_identity')} on ${names.done} (ended_at) where payload_deleted`,
    `create table ${names.dead} (
  seq bigint primary key,
  ended_at timestamptz not null,
  attempts integer not null,
  blocks boolean not null,
  lane text collate "C",
  category text not null,
  code text collate "C" not null,
  first_failure_at timestamptz,
  failures jsonb not null
)`,
    `create index ${names.index('dead_lane')} on ${names.dead} (lane) where lane is not null and blocks`,
    // No row of the lane lives below safe_from. pending_from is the end of a run: a lease that begins when everybody
    // before pending_xid has ended still looks from safe_from, and if it finds nothing before pending_from, nothing ever
    // comes there. A writer takes its id before its sequences, so whoever writes below a row that a lease saw is older
    // than that lease.
    `create table ${names.lane} (
  lane text collate "C" primary key,
  generation bigint not null,
  run_from bigint not null,
  run_to bigint not null,
  safe_from bigint not null,
  pending_from bigint not null,
  pending_xid bigint not null,
  used_at timestamptz not null
) with (
  fillfactor = 30,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0
)`,
  ]
}
