import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import {
  createDeliveryLedger,
  noTelemetry,
  silentLogger,
  type Delivery,
  type DeliveryLedger,
  type Transport,
  type TransportCapabilities,
} from '@litebus/core'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'
import {
  createDeliveryPipeline,
  createSettlementBudget,
  settleDelivery,
  type DeliveryPipeline,
} from '../src/index.ts'

/** A message as the broker of this file has it: its name, and how often it was delivered. */
interface Sent {
  readonly name: string
  readonly times?: number
  /** Whether the broker names it. */
  readonly hasId?: boolean
}

interface Bench {
  readonly pipeline: DeliveryPipeline
  /** Delivers messages of one key at once. */
  readonly deliver: (...sent: readonly Sent[]) => void
  /** What was done, in order: names of handled messages, and of those that went back behind a `<`. */
  readonly done: string[]
  /** Loses the connection, and with it what was handed out. */
  readonly lose: () => void
  readonly advance: (ms: number) => Promise<void>
}

/** A broker that delivers what the test says, and a pipeline in which the first one goes back as often as it `fails`. */
async function bench(
  capabilities: Partial<TransportCapabilities> = {},
  { fails = 1, maxInFlight = 10 }: { readonly fails?: number; readonly maxInFlight?: number } = {},
): Promise<Bench> {
  const clock = manualClock()
  const done: string[] = []
  const memory = memoryTransport({ broker: memoryBroker({ clock }) })
  let ledger: DeliveryLedger<Sent> | undefined
  let lose = (): void => undefined
  const consumer: Transport['consumer'] = {
    subscribe({ onRevoked }, onDelivery) {
      lose = () => {
        ledger?.revokeAll()
      }
      const settled = Promise.resolve('settled' as const)
      ledger = createDeliveryLedger<Sent>({
        maxInFlight,
        clock,
        onDelivery,
        onRevoked,
        onFault: (fault) => {
          throw fault
        },
        driver: {
          accept: () => settled,
          discard: () => settled,
          returnToQueue: ({ name }) => {
            done.push(`<${name}`)
            return settled
          },
        },
      })
      return Promise.resolve({
        state: 'consuming',
        pause: () => Promise.resolve(),
        resume: () => Promise.resolve(),
        stop: () => Promise.resolve({ unsettled: 0 }),
      })
    },
  }
  const budget = createSettlementBudget(1000, clock)
  let failures = 0
  const pipeline = createDeliveryPipeline({
    transport: {
      ...memory,
      consumer,
      capabilitiesOf: (name) => ({
        ...memory.capabilitiesOf(name),
        orderedStream: true,
        pausable: false,
        ...capabilities,
      }),
    },
    source: 'orders',
    maxInFlight,
    prefetch: 10,
    settlementBudgetMs: 1000,
    restartDelayMs: 1000,
    handle: (delivery: Delivery) => {
      const { name } = JSON.parse(Buffer.from(delivery.message.body).toString()) as Sent
      if (name === 'first' && failures++ < fails) return settleDelivery(delivery, { act: 'return' }, budget)
      done.push(name)
      return settleDelivery(delivery, { act: 'accept' }, budget)
    },
    logger: silentLogger,
    telemetry: noTelemetry,
    clock,
  })
  await pipeline.start()
  return {
    pipeline,
    done,
    lose: () => {
      lose()
    },
    advance: (ms) => clock.advance(ms),
    deliver(...sent) {
      for (const one of sent) {
        const { name, times = 1, hasId = true } = one
        ledger?.add(one, {
          redelivered: times > 1,
          deliveryCount: times,
          ...(hasId ? { deliveryId: name } : {}),
          message: {
            destination: 'orders',
            orderingKey: 'key',
            body: Buffer.from(JSON.stringify({ name })),
            headers: {},
          },
        })
      }
    },
  }
}

const again = (name: string, times = 2): Sent => ({ name, times })

describe('what an ordered source had pushed ahead when one of its key went back', () => {
  it.each([
    { ids: 'with ids', hasId: true },
    { ids: 'without ids', hasId: false },
  ])('waits here, $ids, and is handled in order when the first has come again', async ({ hasId }) => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first', hasId }, { name: 'second', hasId })
    await advance(1)
    deliver({ name: 'third', hasId })
    await advance(1)
    expect(done).toEqual(['<first'])
    deliver({ name: 'first', times: 2, hasId }, { name: 'fourth', hasId })
    await advance(1)
    expect(done).toEqual(['<first', 'first', 'second', 'third', 'fourth'])
    await pipeline.stop()
  })

  it('waits as often as the first goes back', async () => {
    const { pipeline, deliver, done, advance } = await bench({}, { fails: 2 })
    deliver({ name: 'first' }, { name: 'second' })
    await advance(1)
    deliver(again('first'))
    await advance(1)
    deliver(again('first', 3))
    await advance(1)
    expect(done).toEqual(['<first', '<first', 'first', 'second'])
    await pipeline.stop()
  })

  it('goes back after a second, and is handled when it comes again before the first: that one is gone', async () => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first' }, { name: 'second' })
    await advance(999)
    expect(done).toEqual(['<first'])
    await advance(2)
    expect(done).toEqual(['<first', '<second'])
    deliver(again('second'), { name: 'third' })
    await advance(1)
    expect(done).toEqual(['<first', '<second', 'second', 'third'])
    await pipeline.stop()
  })

  it('goes back at once where it would take the place of what it waits for', async () => {
    const { pipeline, deliver, done, advance } = await bench({}, { maxInFlight: 2 })
    deliver({ name: 'first' }, { name: 'second' }, { name: 'third' })
    await advance(1)
    expect(done).toEqual(['<first', '<third'])
    deliver(again('first'), again('third'))
    await advance(1)
    expect(done.slice(2)).toEqual(['first', 'second', 'third'])
    await pipeline.stop()
  })

  it('is handled in order after a lost connection, in whatever order it comes again', async () => {
    const { pipeline, deliver, done, advance, lose } = await bench()
    deliver({ name: 'first' }, { name: 'second' })
    await advance(1)
    lose()
    deliver(again('second'), { name: 'third' }, again('first'))
    await advance(1)
    expect(done).toEqual(['<first', 'first', 'second', 'third'])
    await pipeline.stop()
  })

  it('goes back at a stop', async () => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first' }, { name: 'second' })
    await advance(1)
    const stopping = pipeline.stop({ budgetMs: 500, graceMs: 100 })
    await advance(500)
    expect([done, (await stopping).unsettled]).toEqual([['<first', '<second'], 0])
  })

  it.each([
    { where: 'the first may be with another reader', capabilities: { orderedStream: false } },
    { where: 'the transport itself keeps the place of what went back', capabilities: { pausable: true } },
  ])('is handled where $where', async ({ capabilities }) => {
    const { pipeline, deliver, done, advance } = await bench(capabilities)
    deliver({ name: 'first' })
    await advance(1)
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', 'second'])
    await pipeline.stop()
  })

  it.each([{ deliveryLimit: 3 }, { deliveryLimit: 3, orderedStream: false }])(
    'does not go back with one that the source keeps no longer: %j',
    async (capabilities) => {
      const { pipeline, deliver, done, advance } = await bench(capabilities)
      deliver({ name: 'first', times: 4 }, { name: 'second', times: 4 })
      await advance(1)
      expect(done).toEqual(['<first', 'second'])
      await pipeline.stop()
    },
  )
})
