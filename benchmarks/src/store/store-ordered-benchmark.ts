import type { Benchmark } from '../harness/benchmark.ts'
import { compare, figures, type Comparison } from '../harness/compare.ts'
import { productSide } from './product-side.ts'

/** Ordered against unordered: what lanes cost. */
export const storeOrderedBenchmark: Benchmark = {
  summary: 'ordered / unordered; --keys N measures that many keys only',
  bar: 0.5,
  async run(context) {
    const given = context.options['keys']
    const variants = given === undefined ? [1000, 10, 100_000] : [Number(given)]
    const results = new Map<number, Comparison>()
    for (const keys of variants) {
      const round = {
        databaseUrl: await context.createDatabase(),
        kind: 'small' as const,
        messages: keys > 50_000 ? 100_000 : 40_000,
        batch: 500,
      }
      await using ordered = await productSide({ ...round, keys, schema: 'ordered' })
      await using unordered = await productSide({ ...round, schema: 'unordered' })
      results.set(keys, await compare(ordered, unordered, context))
    }
    const main = results.get(variants[0] ?? 0)
    if (main === undefined) throw new Error('expected --keys to be a number')
    return {
      ratio: main.ratio,
      product: main.product.median,
      floor: main.floor.median,
      unit: 'messages/s',
      runs: context.rounds,
      details: Object.fromEntries(
        [...results].map(([keys, result]) => [`${String(keys)} keys`, figures(result)]),
      ),
    }
  },
}
