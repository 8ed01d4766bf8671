import type { Benchmark } from '../harness/benchmark.ts'
import { compare, figures } from '../harness/compare.ts'
import { floorSide } from './floor-side.ts'
import { productSide } from './product-side.ts'

/** Engine and PostgreSQL against the hand-written loop. */
export const storeBenchmark: Benchmark = {
  summary: 'engine + PostgreSQL, no-op handler / hand-written loop',
  bar: 0.6,
  async run(context) {
    const databaseUrl = await context.createDatabase()
    const sides = async (kind: 'small' | 'real', messages: number): ReturnType<typeof compare> => {
      const round = { databaseUrl, kind, messages, batch: 500 }
      await using floor = await floorSide(round)
      await using product = await productSide({ ...round, schema: `product_${kind}` })
      return await compare(product, floor, context)
    }
    const small = await sides('small', 40_000)
    const real = await sides('real', 4000)
    return {
      ratio: small.ratio,
      product: small.product.median,
      floor: small.floor.median,
      unit: 'messages/s',
      runs: context.rounds,
      details: { small: figures(small), real: figures(real) },
    }
  },
}
