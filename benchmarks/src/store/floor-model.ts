import type pg from 'pg'

/**
 * The smallest hand-written loop that does the same work as the store with the same model and the raw client: an
 * immutable message table, a narrow queue that is deleted from, a narrow table of what is done. Nothing of the
 * product is used.
 */
export const floorSchema = `
  drop schema if exists floor cascade;
  create schema floor;
  create sequence floor.generations;
  create table floor.message (
    seq bigint generated always as identity primary key,
    id uuid not null default gen_random_uuid(),
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
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
  create table floor.done (seq bigint not null, at timestamptz not null);
`

/** Adds messages with the given bodies, in one statement. */
export async function fillFloor(client: pg.ClientBase, bodies: readonly string[]): Promise<void> {
  await client.query(
    `with m as (
       insert into floor.message (contract, body)
       select 'order-placed', convert_to(b, 'UTF8') from unnest($1::text[]) b returning seq
     )
     insert into floor.queue (seq, due_at) select seq, clock_timestamp() from m`,
    [bodies],
  )
}

/**
 * Leases the next rows above a position; they come in any order, since sorting wide rows would cost more than it does here. Bodies come as text: the raw client has no usable binary mode, and text is
 * what the loop parses.
 */
export const floorLease = `
  with c as (
    select seq from floor.queue where seq > $1 and expires_at is null and due_at <= clock_timestamp()
    order by seq limit $2 for update skip locked
  ), u as (
    update floor.queue q
    set owner = $3, expires_at = clock_timestamp() + interval '60 s', generation = nextval('floor.generations'),
        attempts = attempts + 1
    where q.seq = any (array(select seq from c))
    returning q.seq, q.generation, q.attempts
  )
  select u.seq, u.generation, u.attempts, m.id, m.contract, m.created_at, convert_from(m.body, 'UTF8') as body
  from u join floor.message m using (seq)`

/**
 * Completes leased rows: fenced delete, narrow insert. By key and not by a join, which the planner turns around, and
 * walks the whole queue for each row, when its statistics are of an empty one. No generation is used twice.
 */
export const floorSettle = `
  with d as (
    delete from floor.queue q
    where q.seq = any ($1::bigint[]) and q.generation = any ($2::bigint[]) and q.owner = $3
    returning q.seq
  )
  insert into floor.done (seq, at) select seq, clock_timestamp() from d`
