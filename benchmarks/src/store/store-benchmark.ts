import type { Benchmark } from '../harness/benchmark.ts'
import { measure, medianRatio, type Measured } from '../harness/measure.ts'
import { floorSide } from './floor-side.ts'
import { productSide } from './product-side.ts'

const batch = 500

/** Engine and PostgreSQL against the hand-written loop. */
export const storeBenchmark: Benchmark = {
  summary: 'engine + PostgreSQL, no-op handler / hand-written loop',
  bar: 0.6,
  async run({ databaseUrl, rounds, say }) {
    const results: Record<string, [Measured, Measured]> = {}
    for (const [kind, messages] of [
      ['small', 40_000],
      ['real', 4000],
    ] as const) {
      await using floor = await floorSide({ databaseUrl, kind, messages, batch })
      await using product = await productSide({
        databaseUrl,
        kind,
        messages,
        batch,
        schema: `product_${kind}`,
      })
      const [measuredFloor, measuredProduct] = await measure([floor, product], { rounds, say })
      if (measuredFloor === undefined || measuredProduct === undefined)
        throw new Error('expected two measurements')
      results[kind] = [measuredProduct, measuredFloor]
    }
    const [product, floor] = results['small'] ?? []
    const [realProduct, realFloor] = results['real'] ?? []
    if (!product || !floor || !realProduct || !realFloor)
      throw new Error('expected both kinds to be measured')
    return {
      ratio: medianRatio(product, floor),
      product: product.median,
      floor: floor.median,
      unit: 'messages/s',
      runs: rounds,
      details: {
        small: { product: product.rates, floor: floor.rates },
        real: {
          ratio: medianRatio(realProduct, realFloor),
          product: realProduct.rates,
          floor: realFloor.rates,
        },
      },
    }
  },
}
