import pg from 'pg'
import type { Benchmark } from '../harness/benchmark.ts'
import { compare, figures, type Comparison } from '../harness/compare.ts'
import { productSide } from './product-side.ts'

/**
 * The same work while another session holds an old snapshot for the whole run, in a database of its own: dead rows
 * and dead index entries of everything before stay.
 */
export const storeHeldBenchmark: Benchmark = {
  summary: 'old snapshot held for the whole run / free, unordered and with 10 and 1000 keys',
  bar: 0.75,
  async run(context) {
    const results = new Map<string, Comparison>()
    for (const keys of [undefined, 10, 1000]) {
      const round = {
        kind: 'small' as const,
        messages: 40_000,
        batch: 500,
        ...(keys === undefined ? {} : { keys }),
      }
      await using free = await productSide({
        ...round,
        databaseUrl: await context.createDatabase(),
        schema: 'free',
      })
      const heldUrl = await context.createDatabase()
      await using held = await productSide({ ...round, databaseUrl: heldUrl, schema: 'held' })
      await using resources = new AsyncDisposableStack()
      resources.use(await holdSnapshot(heldUrl))
      results.set(
        keys === undefined ? 'unordered' : `${String(keys)} keys`,
        await compare(held, free, context),
      )
    }
    const [worst] = [...results.values()].toSorted((a, b) => a.ratio - b.ratio)
    if (worst === undefined) throw new Error('expected a result')
    return {
      ratio: worst.ratio,
      product: worst.product.median,
      floor: worst.floor.median,
      unit: 'messages/s',
      runs: context.rounds,
      details: Object.fromEntries([...results].map(([name, result]) => [name, figures(result)])),
    }
  },
}

async function holdSnapshot(connectionString: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from pg_class')
  return {
    async [Symbol.asyncDispose]() {
      await client.query('rollback')
      await client.end()
    },
  }
}
