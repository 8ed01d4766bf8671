import type { Benchmark, Side } from '../harness/benchmark.ts'
import { compare, figures } from '../harness/compare.ts'
import { fill, productSide } from './product-side.ts'

const handled = 10_000
const backlog = 1_000_000

/** A backlog of a million due rows must not slow down the work on it. */
export const storeBacklogBenchmark: Benchmark = {
  summary: '10 000 messages with 1 000 000 rows due / with 10 000 due',
  bar: 0.9,
  async run(context) {
    const round = { kind: 'small' as const, messages: handled, batch: 500 }
    await using small = await productSide({
      ...round,
      databaseUrl: await context.createDatabase(),
      schema: 'small',
    })
    await using large = await productSide({
      ...round,
      databaseUrl: await context.createDatabase(),
      schema: 'large',
    })
    context.say(`filling ${String(backlog)} rows`)
    await fill(large.storage, { ...round, messages: backlog })
    const withBacklog: Side = { ...large, name: 'backlog of a million', prepare: () => Promise.resolve() }
    const result = await compare(withBacklog, small, context)
    return {
      ratio: result.ratio,
      product: result.product.median,
      floor: result.floor.median,
      unit: 'messages/s',
      runs: context.rounds,
      details: figures(result),
    }
  },
}
