import pg from 'pg'
import { payload, type PayloadKind } from '../harness/payloads.ts'
import { fillFloor, floorSchema } from './floor-model.ts'

/** Two connections of a hand-written loop, on a fresh model. */
export interface FloorConnections extends AsyncDisposable {
  readonly leaser: pg.Client
  readonly settler: pg.Client
  /** Adds messages. */
  fill(kind: PayloadKind, messages: number): Promise<void>
}

/** Connects and creates the model anew. */
export async function openFloor(databaseUrl: string): Promise<FloorConnections> {
  const leaser = new pg.Client({ connectionString: databaseUrl })
  const settler = new pg.Client({ connectionString: databaseUrl })
  await Promise.all([leaser.connect(), settler.connect()])
  await leaser.query(floorSchema)
  // The planner must not hash whole tables for a batch: every join here is by key.
  for (const client of [leaser, settler])
    await client.query('set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off')
  return {
    leaser,
    settler,
    async fill(kind, messages) {
      for (let from = 0; from < messages; from += 1000) {
        const count = Math.min(1000, messages - from)
        await fillFloor(
          leaser,
          Array.from({ length: count }, (_, index) => payload(kind, from + index)),
        )
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([leaser.end(), settler.end()])
    },
  }
}
