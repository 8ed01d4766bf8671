import type { Benchmark, BenchmarkContext } from '../harness/benchmark.ts'
import { measure, medianRatio, type Measured } from '../harness/measure.ts'
import { transactionalOutboxSide } from './outbox-peer-side.ts'
import { graphileSide, pgBossSide } from './peer-sides.ts'
import { productSide } from './product-side.ts'

/** The product against libraries that do comparable work, each at its best documented settings, with no-op work. */
export const peersBenchmark: Benchmark = {
  summary: 'engine + PostgreSQL / the faster of graphile-worker and pg-boss; pg-transactional-outbox shown',
  bar: 2,
  async run(context) {
    const small = await comparePeers(context, 'small', smallMessages)
    const real = await comparePeers(context, 'real', realMessages)
    return {
      ratio: small.ratio,
      product: small.product.median,
      floor: small.fastest.median,
      unit: 'messages/s',
      runs: context.rounds,
      details: { small: small.details, real: { bar: 1.2, ratio: real.ratio, ...real.details } },
    }
  },
}

/** Messages of a round: enough that starting and stopping are a small part of it on each side. */
const smallMessages = 60_000
const realMessages = 16_000

/** Messages of a round of the library that is only shown: at its settings it is a hundred times slower. */
const shownMessages = 100

interface PeerComparison {
  readonly ratio: number
  readonly product: Measured
  readonly fastest: Measured
  readonly details: Readonly<Record<string, readonly number[]>>
}

async function comparePeers(
  context: BenchmarkContext,
  kind: 'small' | 'real',
  messages: number,
): Promise<PeerComparison> {
  const round = { databaseUrl: await context.createDatabase(), kind, messages, batch: 500 }
  await using product = await productSide(round)
  await using graphile = await graphileSide(round)
  await using boss = await pgBossSide(round)
  await using shown = await transactionalOutboxSide({ ...round, messages: shownMessages })
  const measured = await measure([product, graphile, boss, shown], context)
  const [own, ...peers] = measured
  const [fastest] = peers.filter(({ name }) => name !== shown.name).toSorted((a, b) => b.median - a.median)
  if (own === undefined || fastest === undefined) throw new Error('expected a product and its peers')
  return {
    ratio: medianRatio(own, fastest),
    product: own,
    fastest,
    details: Object.fromEntries(
      measured.map(({ name, rates }) => [name, rates.map((rate) => Math.round(rate))]),
    ),
  }
}
