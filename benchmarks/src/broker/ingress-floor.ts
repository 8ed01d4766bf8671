import pg from 'pg'

/** A delivery as the floor stores it. */
interface FloorDelivery {
  readonly id: string
  readonly contract: string
  readonly body: Buffer
}

/** The hand-written store of an ingress. */
export interface FloorInbox extends AsyncDisposable {
  /** Stores a batch by one statement that knows the ids it has seen. */
  accept(deliveries: readonly FloorDelivery[]): Promise<void>
}

/** Two connections, so that two batches are under way. */
export async function openFloorInbox(databaseUrl: string): Promise<FloorInbox> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  await pool.query(floorSchema)
  return {
    async accept(deliveries) {
      await pool.query(floorAccept, [
        deliveries.map(({ id }) => id),
        deliveries.map(({ contract }) => contract),
        deliveries.map(({ body }) => body),
      ])
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

const floorSchema = `
  drop schema if exists floor cascade;
  create schema floor;
  create table floor.message (
    seq bigint generated always as identity primary key,
    id text not null unique,
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
    insert into floor.message (id, contract, body)
    select id, contract, body from unnest($1::text[], $2::text[], $3::bytea[]) as u(id, contract, body)
    on conflict (id) do nothing
    returning seq
  )
  insert into floor.queue (seq, due_at) select seq, clock_timestamp() from m`
