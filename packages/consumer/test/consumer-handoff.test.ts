import { describe, expect, it } from '@jest/globals'
import {
  noTelemetry,
  reject,
  retry,
  type PublishOutcome,
  type Telemetry,
  type Transport,
} from '@litebus/core'
import { bench } from './arrange.ts'

const never = () => reject({ code: 'NEVER' })

describe('a handoff that fails', () => {
  it.each(['rejected', 'ambiguous', 'unavailable'] as const)(
    'with %s holds the delivery, stops intake and delivers the copy as soon as it can',
    async (status) => {
      const { broker, clock, consumer, logged, order, seen, waiting } = bench()
      const subject = consumer(never)
      broker.faults.failNextPublish({ status, times: 5 })
      order('a', 'b')
      await subject.start()
      await clock.advance(1)
      expect([subject.state, seen.length, broker.count('orders').unsettled]).toEqual(['paused', 1, 1])
      await clock.advance(60_000)
      expect(waiting('orders.dead').map(({ messageId }) => messageId)).toEqual(['a', 'b'])
      expect([subject.state, subject.counts().acked_dead_letter]).toEqual(['consuming', 2])
      const line = logged.find(({ message }) => message.startsWith('handoff failed'))
      expect(line?.fields).toMatchObject({ destination: 'orders.dead', code: expect.any(String) })
      await subject.stop()
    },
  )

  it('to a place that is missing is not lost: at the hold limit it goes back once, and nothing is subscribed until the place can be reached', async () => {
    const { broker, clock, consumer, order, seen, waiting } = bench()
    broker.deleteQueue('orders.dead')
    const subject = consumer(never, { holdLimitMs: 60_000 })
    order('a')
    await subject.start()
    await clock.advance(59_000)
    expect([subject.state, broker.count('orders').unsettled]).toEqual(['paused', 1])
    await clock.advance(1001)
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
    expect(subject.state).toBe('suspended')
    await clock.advance(600_000)
    expect([seen.length, broker.count('orders').ready, subject.state]).toEqual([1, 1, 'suspended'])
    broker.declareQueue({ name: 'orders.dead' })
    await clock.advance(60_000)
    expect(waiting('orders.dead')).toHaveLength(1)
    expect(subject.counts()).toMatchObject({ deliveries: 2, returned: 1, acked_dead_letter: 1 })
    expect(subject.state).toBe('consuming')
    await subject.stop()
  })

  it.each([
    { allows: 90_000, goesBackAfter: 90_000 },
    { allows: Number.POSITIVE_INFINITY, goesBackAfter: 20 * 60_000 },
  ])(
    'is held by default for as long as its source allows, here $allows ms, but no longer than 20 minutes',
    async ({ allows, goesBackAfter }) => {
      const { broker, clock, consumer, order, transport } = bench()
      broker.deleteQueue('orders.dead')
      const capabilitiesOf = (name: string) => ({ ...transport.capabilitiesOf(name), maxHoldMs: allows })
      const subject = consumer(never, { transport: { ...transport, capabilitiesOf } })
      order('a')
      await subject.start()
      await clock.advance(goesBackAfter - 1000)
      expect(subject.counts()).toMatchObject({ returned: 0, inFlight: 1 })
      await clock.advance(1001)
      expect(subject.counts()).toMatchObject({ returned: 1, inFlight: 0 })
      await subject.stop()
    },
  )

  it('late, after another one was given up, does not end what was subscribed since', async () => {
    const { clock, consumer, order, transport } = bench()
    const unavailable: PublishOutcome = {
      status: 'unavailable',
      failure: { category: 'DEPENDENCY', code: 'CONNECTION_LOST' },
    }
    const { promise: late, resolve: answerLate } = Promise.withResolvers<PublishOutcome>()
    let published = 0
    const publisher: Transport['publisher'] = {
      publish: async () => {
        published += 1
        return [published === 2 ? await late : unavailable]
      },
    }
    const subject = consumer(never, {
      transport: { ...transport, publisher },
      concurrency: 2,
      prefetch: 2,
      holdLimitMs: 1000,
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(1)
    expect(published).toBe(2)
    // The hold limit, then what the stop of the subscription waits for the one that is still being published.
    await clock.advance(6500)
    const before = subject.counts()
    expect([before.returned, subject.state]).toEqual([1, 'paused'])
    answerLate(unavailable)
    await clock.advance(1)
    expect([subject.counts().returned, subject.state]).toEqual([before.returned, 'paused'])
    await subject.stop({ budgetMs: 0 })
  })

  it('of a copy with a delay asks for the place where that waits before anything is subscribed again', async () => {
    const { broker, clock, consumer, order, transport } = bench()
    const asked: unknown[] = []
    const subject = consumer(() => retry({ code: 'LATER' }), {
      transport: {
        ...transport,
        probe(...args) {
          asked.push(args)
          return Promise.reject(new Error('full'))
        },
      },
      retry: {
        mode: 'brokerDelayed',
        backoff: { jitter: 'none' },
        retryDestination: 'orders.retry',
        deadLetterDestination: 'orders.dead',
      },
      holdLimitMs: 1000,
    })
    broker.faults.failNextPublish({ status: 'rejected', times: 100 })
    order('a')
    await subject.start()
    await clock.advance(5000)
    expect(subject.state).toBe('suspended')
    expect(asked[0]).toEqual(['orders.retry', { delayMs: 1000 }])
    await subject.stop()
  })

  it('takes everything that is held back together at the hold limit, each once', async () => {
    const { broker, clock, consumer, order } = bench()
    broker.deleteQueue('orders.dead')
    const subject = consumer(never, { holdLimitMs: 60_000, concurrency: 5 })
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(60_100)
    expect(subject.counts()).toMatchObject({ deliveries: 3, returned: 3, inFlight: 0 })
    expect(broker.count('orders')).toEqual({ ready: 3, unsettled: 0, delayed: 0 })
    await subject.stop()
  })

  it('counts the hold from the delivery, the time of the handler included', async () => {
    const { broker, clock, consumer, order } = bench()
    broker.deleteQueue('orders.dead')
    const subject = consumer(
      async (_order, { signal }) => {
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
        return reject({ code: 'NEVER' })
      },
      { holdLimitMs: 60_000, executionBudgetMs: 30_000 },
    )
    order('a')
    await subject.start()
    await clock.advance(60_001)
    expect(subject.counts().returned).toBe(1)
    await subject.stop()
  })

  it('a confirm that does not come in time leaves the original alone and repeats the same hop', async () => {
    const { broker, clock, consumer, order, waiting } = bench([{ name: 'orders.dead', deduplicate: true }])
    const subject = consumer(never, { publishTimeoutMs: 1000 })
    const confirm = broker.faults.holdConfirms()
    order('a')
    await subject.start()
    await clock.advance(20_000)
    expect(broker.count('orders').unsettled).toBe(1)
    confirm()
    await clock.advance(60_000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it('measures how long handoffs take and why intake stands still', async () => {
    const { broker, clock, consumer, order } = bench()
    const recorded: unknown[] = []
    const gauges = new Map<unknown, () => number | undefined>()
    const telemetry: Telemetry = {
      ...noTelemetry,
      record: ({ name }, value, attributes) => recorded.push([name, value > 0, attributes?.outcome]),
      observe(_instrument, read, attributes) {
        gauges.set(attributes?.reason, read)
        return () => undefined
      },
    }
    const subject = consumer(never, { telemetry })
    broker.faults.failNextPublish({ status: 'rejected' })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect([gauges.get('handoff')?.(), gauges.get('store')?.()]).toEqual([1, 0])
    await clock.advance(1000)
    expect(recorded).toEqual([['litebus.consumer.handoff.duration', true, 'confirmed']])
    expect(gauges.get('handoff')?.()).toBe(0)
    await subject.stop()
  })
})

it('a publish that is never answered is ambiguous after its time, and is repeated', async () => {
  const { clock, consumer, order, transport, waiting } = bench()
  let published = 0
  const subject = consumer(never, {
    transport: {
      ...transport,
      publisher: {
        publish(messages, options) {
          published += 1
          return published === 1
            ? new Promise(() => undefined)
            : transport.publisher.publish(messages, options)
        },
      },
    },
    publishTimeoutMs: 1000,
  })
  order('a')
  await subject.start()
  await clock.advance(5999)
  expect([published, subject.pausedBy]).toEqual([1, []])
  await clock.advance(10_000)
  expect(published).toBe(2)
  expect(waiting('orders.dead')).toHaveLength(1)
  expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, inFlight: 0 })
  await subject.stop()
})
