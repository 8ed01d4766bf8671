import { describe, expect, it } from '@jest/globals'
import type { Subscription, Transport } from '@litebus/core'
import { bench, done, gate } from './arrange.ts'

/** The same transport, whose subscriptions pass through a change. */
function subscribing(
  transport: Transport,
  alter: (subscription: Subscription) => Promise<Subscription>,
): Transport {
  return {
    ...transport,
    consumer: {
      subscribe: async (options, onDelivery) =>
        alter(await transport.consumer.subscribe(options, onDelivery)),
    },
  }
}

describe('a transport that does not answer', () => {
  it('keeps a stop no longer than half a minute beyond its deadline', async () => {
    const { clock, consumer, logged, transport } = bench()
    const silent = subscribing(transport, (subscription) =>
      Promise.resolve({ ...subscription, stop: () => new Promise(() => undefined) }),
    )
    const subject = consumer(done, { transport: silent })
    await subject.start()
    const stopped = subject.stop({ budgetMs: 10_000 })
    await clock.advance(40_000)
    expect(await stopped).toMatchObject({ outcome: 'failed', unresolved: [], settlements: { inFlight: 0 } })
    expect(logged.some(({ message }) => message === 'the subscription could not be stopped')).toBe(true)
  })

  it('is asked for another subscription after five minutes, and one that comes late delivers nothing', async () => {
    const { broker, clock, consumer, order, seen, transport } = bench()
    const late = gate()
    let made = 0
    const stops: number[] = []
    const slow = subscribing(transport, async (subscription) => {
      made += 1
      const number = made
      if (number === 1) await late.promise
      return {
        ...subscription,
        stop(options) {
          stops.push(number)
          return subscription.stop(options)
        },
      }
    })
    const subject = consumer(done, { transport: slow })
    const started = subject.start()
    await clock.advance(299_999)
    expect([made, subject.state]).toEqual([1, 'idle'])
    await clock.advance(10_000)
    await started
    expect([made, subject.state]).toEqual([2, 'consuming'])
    late.open()
    await clock.advance(1)
    expect(stops).toEqual([1])
    order('a')
    await clock.advance(1)
    expect([seen.length, broker.count('orders').ready]).toEqual([1, 0])
    await subject.stop()
  })

  it('and subscribes when the stop is over hands nothing to a handler', async () => {
    const { broker, clock, consumer, order, seen, transport } = bench()
    const late = gate()
    const slow = subscribing(transport, async (subscription) => {
      await late.promise
      return subscription
    })
    const subject = consumer(done, { transport: slow })
    const started = subject.start()
    await clock.advance(1)
    expect(await subject.stop()).toMatchObject({ outcome: 'graceful', settlements: { deliveries: 0 } })
    order('a')
    await clock.advance(1)
    late.open()
    await started
    await clock.advance(1000)
    expect(seen).toEqual([])
    expect(broker.count('orders')).toEqual({ ready: 1, unsettled: 0, delayed: 0 })
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
  })
})
