import type { Benchmark, BenchmarkContext } from '../harness/benchmark.ts'
import { compare, figures, type Comparison } from '../harness/compare.ts'
import { measure, type Measured } from '../harness/measure.ts'
import type { BrokerRound, BrokerSides, IngressRound, OwnSide, RelayRound } from './broker-round.ts'

const relay = { batch: 500, window: 1000 }
/** Less than the floors hold where a client hands out whole fetches, as from Kafka: three times a few thousand. */
const ingress = { batch: 100, prefetch: 1000 }

/** Outbox rows to confirmed publishes to settled rows. */
export function relayBenchmark(sides: BrokerSides<RelayRound>): Benchmark {
  return {
    summary: 'outbox row → confirmed → settled / hand-written loop with the same batch and window',
    bar: 0.85,
    broker: sides.broker,
    run: (context) => bothKinds(context, relay, sides),
  }
}

/** Deliveries to committed rows to acknowledgements, with batches on. */
export function ingressBenchmark(sides: BrokerSides<IngressRound>): Benchmark {
  return {
    summary: 'delivery → committed row → acknowledged, batch accept / hand-written loop',
    bar: 0.8,
    broker: sides.broker,
    run: (context) => bothKinds(context, ingress, sides),
  }
}

/** Enough that joining, connecting and compiling are a small part of a round, as they are of a service that runs. */
const defaultMessages = 100_000

type Settings<Round extends BrokerRound> = Omit<Round, keyof BrokerRound>

async function bothKinds<Round extends BrokerRound>(
  context: BenchmarkContext,
  settings: Settings<Round>,
  sides: BrokerSides<Round>,
): ReturnType<Benchmark['run']> {
  const messages = Number(context.options['messages'] ?? defaultMessages)
  const open = roundsOf(context, settings, sides)
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

type Size = Pick<BrokerRound, 'kind' | 'messages'>
type OpenSides = (
  size: Size,
  resources: AsyncDisposableStack,
) => Promise<readonly [product: OwnSide, floor: OwnSide, raw: OwnSide]>

/** Each side has a queue of its own, so that none meets what another has left. */
function roundsOf<Round extends BrokerRound>(
  context: BenchmarkContext,
  settings: Settings<Round>,
  sides: BrokerSides<Round>,
): OpenSides {
  const brokerUrl = context.brokerUrl()
  return async (size, resources) => {
    const databaseUrl = await context.createDatabase()
    const open = async (side: (round: Round) => Promise<OwnSide>): Promise<OwnSide> => {
      const queue = resources.use(await sides.openQueue(brokerUrl, `bench-${crypto.randomUUID()}`))
      const round = { ...settings, ...size, databaseUrl, brokerUrl, queue } as unknown as Round
      return resources.use(await side(round))
    }
    return [await open(sides.product), await open(sides.floor), await open(sides.raw)]
  }
}

async function oneKind(
  context: BenchmarkContext,
  open: OpenSides,
  size: Size,
): Promise<{ readonly compared: Comparison; readonly raw: Measured }> {
  await using resources = new AsyncDisposableStack()
  const [product, floor, raw] = await open(size, resources)
  const compared = await compare(product, floor, context)
  const [alone] = await measure([raw], context)
  if (alone === undefined) throw new Error('expected a measurement of the client alone')
  return { compared, raw: alone }
}
