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
import { createDeliveryPipeline, settleDelivery, type DeliveryPipeline } from '../src/index.ts'

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
  readonly advance: (ms: number) => Promise<void>
}

/** A broker that delivers what the test says, and a pipeline in which the first try of `fails` goes back. */
async function bench(capabilities: Partial<TransportCapabilities> = {}, fails = 'first'): Promise<Bench> {
  const clock = manualClock()
  const done: string[] = []
  const memory = memoryTransport({ broker: memoryBroker({ clock }) })
  let ledger: DeliveryLedger<Sent> | undefined
  const consumer: Transport['consumer'] = {
    subscribe(_request, onDelivery) {
      const settled = Promise.resolve('settled' as const)
      ledger = createDeliveryLedger<Sent>({
        maxInFlight: 10,
        clock,
        onDelivery,
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
  const budget = { budgetMs: 1000, clock }
  let failures = 0
  const pipeline = createDeliveryPipeline({
    transport: {
      ...memory,
      consumer,
      capabilitiesOf: (name) => ({ ...memory.capabilitiesOf(name), orderedStream: true, ...capabilities }),
    },
    source: 'orders',
    maxInFlight: 10,
    prefetch: 10,
    settlementBudgetMs: 1000,
    restartDelayMs: 1000,
    handle: (delivery: Delivery) => {
      const { name } = JSON.parse(Buffer.from(delivery.message.body).toString()) as Sent
      if (name === fails && failures++ === 0) return settleDelivery(delivery, { act: 'return' }, budget)
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

const again = (name: string): Sent => ({ name, times: 2 })

describe('what an ordered source had pushed ahead when one of its key went back', () => {
  it.each([
    { ids: 'with ids', hasId: true },
    { ids: 'without ids', hasId: false },
  ])('goes back as well, $ids, and is handled in order when the first has come again', async ({ hasId }) => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first', hasId }, { name: 'second', hasId })
    await advance(1)
    expect(done).toEqual(['<first', '<second'])
    deliver({ name: 'third', hasId }, { name: 'fourth', hasId })
    await advance(1)
    expect(done).toEqual(['<first', '<second', '<third', '<fourth'])
    done.length = 0
    deliver(...['first', 'second', 'third', 'fourth'].map((name) => ({ name, times: 2, hasId })))
    await advance(1)
    expect(done).toEqual(['first', 'second', 'third', 'fourth'])
    await pipeline.stop()
  })

  it('is handled when one that went back behind the first comes again before it: that one is gone', async () => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first' })
    await advance(1)
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', '<second'])
    deliver(again('second'), { name: 'third' })
    await advance(1)
    expect(done).toEqual(['<first', '<second', 'second', 'third'])
    await pipeline.stop()
  })

  it('is handled at once where the source has dropped the first by its limit', async () => {
    const { pipeline, deliver, done, advance } = await bench({ deliveryLimit: 3 })
    deliver({ name: 'first', times: 4 })
    await advance(1)
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', 'second'])
    await pipeline.stop()
  })

  it('is handled where nothing can be under way any more', async () => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first' })
    await advance(30_001)
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', 'second'])
    await pipeline.stop()
  })

  it('is handled where the source is not ordered, and the first may be with another reader', async () => {
    const { pipeline, deliver, done, advance } = await bench({ orderedStream: false })
    deliver({ name: 'first' })
    await advance(1)
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', 'second'])
    await pipeline.stop()
  })
})
