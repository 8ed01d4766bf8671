import type { BenchmarkContext, Side } from './benchmark.ts'

/** Rates of one side, one a round. */
export interface Measured {
  readonly name: string
  /** Units a second, in the order of the rounds. */
  readonly rates: readonly number[]
  readonly median: number
}

/**
 * Runs all sides in turn, round after round, so that noise of the machine meets them alike. One round of each comes
 * first and does not count.
 */
export async function measure(
  sides: readonly Side[],
  { rounds, say }: Pick<BenchmarkContext, 'rounds' | 'say'>,
): Promise<Measured[]> {
  const rates = sides.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [index, side] of sides.entries()) {
      await side.prepare()
      const rate = await rateOf(side)
      if (round > 0) rates[index]?.push(rate)
      say(
        `${round === 0 ? 'warm-up' : `round ${String(round)}`}  ${side.name.padEnd(28)} ${rate.toFixed(0).padStart(9)}/s`,
      )
    }
  }
  return sides.map(({ name }, index) => ({
    name,
    rates: rates[index] ?? [],
    median: median(rates[index] ?? []),
  }))
}

/** Units a second of one run. */
async function rateOf(side: Side): Promise<number> {
  try {
    const startedAt = performance.now()
    const units = await side.run()
    return units / ((performance.now() - startedAt) / 1000)
  } finally {
    await side.end?.()
  }
}

/** Median of the ratios of two sides, round by round. */
export function medianRatio(product: Measured, floor: Measured): number {
  return median(product.rates.map((rate, index) => rate / (floor.rates[index] ?? Number.NaN)))
}

/** The middle value; of an even number of values the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return Number.NaN
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
