import { defineContract } from '@litebus/core'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import type { Benchmark, BenchmarkContext, Side } from '../harness/benchmark.ts'
import { compare, figures } from '../harness/compare.ts'
import { payload, type PayloadKind } from '../harness/payloads.ts'

const producers = 32
const contract = defineContract<unknown>({ name: 'order-placed', version: 1 })

/** 32 transactions at a time, each with one message, against bare inserts of the same bytes. */
export const enqueueBenchmark: Benchmark = {
  summary: '32 transactions that enqueue, one idle processor waiting / bare inserts of the same bytes',
  bar: 0.6,
  async run(context) {
    const small = await compareEnqueue(context, 'small', 8000)
    const real = await compareEnqueue(context, 'real', 4000)
    return {
      ratio: small.ratio,
      product: small.product.median,
      floor: small.floor.median,
      unit: 'transactions/s',
      runs: context.rounds,
      details: { small: figures(small), real: figures(real) },
    }
  },
}

async function compareEnqueue(
  context: BenchmarkContext,
  kind: PayloadKind,
  count: number,
): ReturnType<typeof compare> {
  const databaseUrl = await context.createDatabase()
  await using resources = new AsyncDisposableStack()
  const pool = new pg.Pool({ connectionString: databaseUrl, max: producers })
  resources.defer(() => pool.end())
  const storage = resources.use(postgresStorage({ connection: databaseUrl }))
  await storage.schema.migrate()
  await pool.query(
    'create table bare (id uuid primary key, contract text not null, body bytea not null, created_at timestamptz not null default now())',
  )
  const outbox = createOutbox({ store: storage.outbox, contracts: [contract] })
  // Waits for another contract, so that it is idle for the whole run.
  const idle = createOutboxProcessor({
    store: storage.outbox,
    contracts: ['never'],
    dispatcher: { dispatch: () => ({ kind: 'succeeded' }) },
  })
  idle.start()
  resources.defer(async () => {
    await idle.stop()
  })
  const side = (name: string, write: (client: pg.PoolClient, body: Buffer) => Promise<unknown>): Side => ({
    name,
    prepare: () => Promise.resolve(),
    run: () => inTransactions(pool, { count, kind, write }),
  })
  return await compare(
    side(`enqueue, ${kind}`, (client, body) =>
      outbox.enqueue(contract, undefined, { transaction: client, body, bodyIsValidated: true }),
    ),
    side(`bare insert, ${kind}`, (client, body) =>
      client.query('insert into bare (id, contract, body) values ($1, $2, $3)', [
        crypto.randomUUID(),
        contract.name,
        body,
      ]),
    ),
    context,
  )
}

async function inTransactions(
  pool: pg.Pool,
  {
    count,
    kind,
    write,
  }: {
    readonly count: number
    readonly kind: PayloadKind
    readonly write: (client: pg.PoolClient, body: Buffer) => Promise<unknown>
  },
): Promise<number> {
  let next = 0
  const produce = async (): Promise<void> => {
    const client = await pool.connect()
    try {
      for (let index = next++; index < count; index = next++) {
        const body = Buffer.from(payload(kind, index))
        await client.query('begin')
        await write(client, body)
        await client.query('commit')
      }
    } finally {
      client.release()
    }
  }
  await Promise.all(Array.from({ length: producers }, produce))
  return count
}
