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
  /** Loses the connection, and with it what was handed out. */
  readonly lose: () => void
  readonly advance: (ms: number) => Promise<void>
}

/** A broker that delivers what the test says, and a pipeline in which the first one goes back as often as it `fails`. */
async function bench(capabilities: Partial<TransportCapabilities> = {}, fails = 1): Promise<Bench> {
  const clock = manualClock()
  const done: string[] = []
  const memory = memoryTransport({ broker: memoryBroker({ clock }) })
  let ledger: DeliveryLedger<Sent> | undefined
  let lose = (): void => undefined
  const consumer: Transport['consumer'] = {
    subscribe({ onStateChange }, onDelivery) {
      lose = () => {
        ledger?.revokeAll()
        onStateChange?.('recovering')
      }
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
      capabilitiesOf: (name) => ({
        ...memory.capabilitiesOf(name),
        orderedStream: true,
        pausable: false,
        ...capabilities,
      }),
    },
    source: 'orders',
    maxInFlight: 10,
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

  it('goes back too when it was sent between what came again and what is still to come', async () => {
    const { pipeline, deliver, done, advance } = await bench()
    deliver({ name: 'first' })
    await advance(1)
    deliver({ name: 'second' }, again('first'), { name: 'third' }, again('second'), again('third'))
    await advance(1)
    expect(done).toEqual(['<first', '<second', 'first', '<third', 'second', 'third'])
    await pipeline.stop()
  })

  it('goes back each time when the first does, whatever of it has come again already', async () => {
    const { pipeline, deliver, done, advance } = await bench({}, 2)
    deliver({ name: 'first' }, { name: 'second' })
    await advance(1)
    deliver(again('first'))
    await advance(1)
    deliver(again('second'))
    await advance(1)
    expect(done).toEqual(['<first', '<second', '<first', '<second'])
    deliver(again('first'), again('second'))
    await advance(1)
    expect(done.slice(4)).toEqual(['first', 'second'])
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

  it('is handled where the source keeps the first no longer, by its limit, and so is what waited behind it', async () => {
    const { pipeline, deliver, done, advance } = await bench({ deliveryLimit: 3 })
    deliver({ name: 'first', times: 4 }, { name: 'second', times: 4 })
    await advance(1)
    deliver({ name: 'third' })
    await advance(1)
    expect(done).toEqual(['<first', 'second', 'third'])
    await pipeline.stop()
  })

  it('is handled when the connection was lost meanwhile: all of it comes again, in order', async () => {
    const { pipeline, deliver, done, advance, lose } = await bench()
    deliver({ name: 'first' })
    await advance(1)
    lose()
    deliver({ name: 'second' })
    await advance(1)
    expect(done).toEqual(['<first', 'second'])
    await pipeline.stop()
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
})
