import { hash } from 'node:crypto'
import pg from 'pg'

/** A delivery as the floor stores it. */
interface FloorDelivery {
  readonly id: string
  readonly contract: string
  readonly body: Buffer
}

/** The hand-written store of an ingress. */
export interface FloorInbox extends AsyncDisposable {
  /** Stores a batch by one statement that knows the ids and keys it has seen, as the inbox keeps them. */
  accept(deliveries: readonly FloorDelivery[]): Promise<void>
}

/** Two connections, so that two batches are under way. */
export async function openFloorInbox(databaseUrl: string, queue: string): Promise<FloorInbox> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  await pool.query(floorSchema)
  return {
    async accept(deliveries) {
      await pool.query(floorAccept, [
        deliveries.map(({ id }) => nameUuid(`${queue}:${id}`)),
        deliveries.map(({ id }) => id),
        deliveries.map(({ contract }) => contract),
        `ingress:${queue}:`,
        deliveries.map(({ body }) => body),
      ])
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

/** A UUID of a name: the row of a delivery has an id of its own, whatever the source calls it. */
function nameUuid(name: string): string {
  const hex = hash('sha1', name)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const floorSchema = `
  drop schema if exists floor cascade;
  create schema floor;
  create table floor.message (
    seq bigint generated always as identity primary key,
    id uuid not null unique,
    key text not null unique,
    source_id text not null,
    contract text not null,
    created_at timestamptz not null default clock_timestamp(),
    body bytea not null
  );
  create table floor.queue (
    seq bigint primary key,
    due_at timestamptz not null,
    owner text,
    expires_at timestamptz,
    generation bigint,
    attempts int not null default 0
  ) with (fillfactor = 50);
`

const floorAccept = `
  with m as (
    insert into floor.message (id, key, source_id, contract, body)
    select id, $4 || source_id, source_id, contract, body
    from unnest($1::uuid[], $2::text[], $3::text[], $5::bytea[]) as u(id, source_id, contract, body)
    on conflict do nothing
    returning seq
  )
  insert into floor.queue (seq, due_at) select seq, clock_timestamp() from m`
