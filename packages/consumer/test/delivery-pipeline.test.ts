import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import { noTelemetry, silentLogger, type Delivery } from '@litebus/core'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'
import { createDeliveryPipeline, type SettlementTerminal } from '../src/index.ts'

type Handle = (delivery: Delivery) => Promise<SettlementTerminal>

/** Takes one delivery by a handle without types; answers what became of it. */
async function takeOne(handle: (delivery: Delivery) => unknown, changed: Partial<Delivery> = {}) {
  const clock = manualClock()
  const transport = memoryTransport({ broker: memoryBroker({ clock }) })
  const calls: string[] = []
  const settled = (call: string) => () => {
    calls.push(call)
    return Promise.resolve('settled' as const)
  }
  let hand: (delivery: Delivery) => void = () => undefined
  const pipeline = createDeliveryPipeline({
    transport: {
      ...transport,
      consumer: {
        subscribe(_options, onDelivery) {
          hand = onDelivery
          return Promise.resolve({
            state: 'consuming',
            pause: () => Promise.resolve(),
            resume: () => Promise.resolve(),
            stop: () => Promise.resolve({ unsettled: 0 }),
          })
        },
      },
    },
    source: 'orders',
    maxInFlight: 1,
    prefetch: 1,
    settlementBudgetMs: 1000,
    restartDelayMs: 1000,
    handle: handle as Handle,
    logger: silentLogger,
    telemetry: noTelemetry,
    clock,
  })
  await pipeline.start()
  hand({
    message: { destination: 'orders', body: new Uint8Array(), headers: {} },
    redelivered: false,
    accept: settled('accept'),
    returnToQueue: settled('return'),
    discard: settled('discard'),
    ...changed,
  })
  await clock.advance(1)
  await pipeline.stop({ budgetMs: 0 })
  return { calls, counts: pipeline.counts() }
}

describe('a delivery pipeline', () => {
  it.each([
    { name: 'a plain value', answer: 'acked' },
    {
      name: 'a thenable',
      answer: {
        then: (resolve: (terminal: string) => void) => {
          resolve('acked')
        },
      },
    },
  ])('takes $name from a handle without types', async ({ answer }) => {
    const { calls, counts } = await takeOne((delivery) => {
      void delivery.accept()
      return answer
    })
    expect(calls).toEqual(['accept'])
    expect(counts).toMatchObject({ acked: 1, inFlight: 0 })
  })

  it.each([
    {
      name: 'throws',
      handle: () => {
        throw new Error('bug')
      },
    },
    { name: 'rejects', handle: () => Promise.reject(new Error('bug')) },
  ])('gives a delivery back whose handle $name', async ({ handle }) => {
    const { calls, counts } = await takeOne(handle)
    expect(calls).toEqual(['return'])
    expect(counts).toMatchObject({ returned: 1, inFlight: 0 })
  })

  it('gives a delivery back whose key cannot be read, and keeps its books', async () => {
    const { calls, counts } = await takeOne(() => Promise.resolve('acked'), {
      message: undefined as unknown as Delivery['message'],
    })
    expect(calls).toEqual(['return'])
    expect(counts).toMatchObject({ returned: 1, inFlight: 0 })
  })
})
