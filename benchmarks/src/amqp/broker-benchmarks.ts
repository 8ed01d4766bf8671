import type { Benchmark, BenchmarkContext, Side } from '../harness/benchmark.ts'
import { compare, figures, type Comparison } from '../harness/compare.ts'
import { measure, type Measured } from '../harness/measure.ts'
import { openBenchQueue, type BrokerRound } from './bench-queue.ts'
import { ingressFloor, ingressProduct, rawConsume } from './ingress-sides.ts'
import { rawPublish, relayFloor, relayProduct } from './relay-sides.ts'

const relay = { batch: 500, window: 1000 }
const ingress = { batch: 100, prefetch: 500 }

/** Outbox rows to confirmed publishes to settled rows. */
export const relayAmqpBenchmark: Benchmark = {
  summary: 'outbox row → confirmed → settled / hand-written loop with the same confirm window',
  bar: 0.85,
  needsBroker: true,
  run: (context) =>
    bothKinds(context, relay, (round) => ({
      product: relayProduct({ ...round, ...relay }),
      floor: relayFloor({ ...round, ...relay }),
      raw: rawPublish({ ...round, ...relay }),
    })),
}

/** Deliveries to committed rows to acknowledgements, with batches on. */
export const ingressAmqpBenchmark: Benchmark = {
  summary: 'delivery → committed row → acknowledged, batch accept / hand-written loop',
  bar: 0.8,
  needsBroker: true,
  run: (context) =>
    bothKinds(context, ingress, (round) => ({
      product: ingressProduct({ ...round, ...ingress }),
      floor: ingressFloor({ ...round, ...ingress }),
      raw: rawConsume({ ...round, ...ingress }),
    })),
}

type Opening = Promise<Side & AsyncDisposable>
type OpenSides = (round: BrokerRound) => {
  readonly product: Opening
  readonly floor: Opening
  readonly raw: Opening
}

async function bothKinds(
  context: BenchmarkContext,
  settings: Readonly<Record<string, number>>,
  open: OpenSides,
): ReturnType<Benchmark['run']> {
  const messages = Number(context.options['messages'] ?? 20_000)
  const small = await oneKind(context, open, { kind: 'small', messages })
  const real = await oneKind(context, open, { kind: 'real', messages: Math.ceil(messages / 5) })
  return {
    ratio: small.compared.ratio,
    product: small.compared.product.median,
    floor: small.compared.floor.median,
    unit: 'messages/s',
    runs: context.rounds,
    details: {
      ...settings,
      small: { ...figures(small.compared), raw: Math.round(small.raw.median) },
      real: { ...figures(real.compared), raw: Math.round(real.raw.median) },
    },
  }
}

async function oneKind(
  context: BenchmarkContext,
  open: OpenSides,
  size: Pick<BrokerRound, 'kind' | 'messages'>,
): Promise<{ readonly compared: Comparison; readonly raw: Measured }> {
  const amqpUrl = context.amqpUrl()
  await using resources = new AsyncDisposableStack()
  const queue = resources.use(await openBenchQueue(amqpUrl, `bench-${crypto.randomUUID()}`))
  const sides = open({ databaseUrl: await context.createDatabase(), amqpUrl, queue, ...size })
  const [product, floor, raw] = await Promise.all([sides.product, sides.floor, sides.raw])
  for (const side of [product, floor, raw]) resources.use(side)
  const compared = await compare(product, floor, context)
  const [alone] = await measure([raw], context)
  if (alone === undefined) throw new Error('expected a measurement of the client alone')
  return { compared, raw: alone }
}
