import type { BenchmarkContext, Side } from './benchmark.ts'
import { measure, medianRatio, type Measured } from './measure.ts'

/** Two sides measured against each other. */
export interface Comparison {
  /** Median of the ratios, round by round. */
  readonly ratio: number
  readonly product: Measured
  readonly floor: Measured
}

/** Measures two sides in turn. */
export async function compare(
  product: Side,
  floor: Side,
  context: Pick<BenchmarkContext, 'rounds' | 'say'>,
): Promise<Comparison> {
  const [measuredFloor, measuredProduct] = await measure([floor, product], context)
  if (measuredFloor === undefined || measuredProduct === undefined)
    throw new Error('expected two measurements')
  return {
    ratio: medianRatio(measuredProduct, measuredFloor),
    product: measuredProduct,
    floor: measuredFloor,
  }
}

/** The figures of a comparison, for the details. */
export function figures({ ratio, product, floor }: Comparison): Record<string, unknown> {
  const round = (rates: readonly number[]): number[] => rates.map((rate) => Math.round(rate))
  return { ratio: Number(ratio.toFixed(3)), product: round(product.rates), floor: round(floor.rates) }
}
