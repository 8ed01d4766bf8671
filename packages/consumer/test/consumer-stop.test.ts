import { describe, expect, it } from '@jest/globals'
import { InvalidOperationError, reject } from '@litebus/core'
import { bench, contractHeaders, done, gate } from './arrange.ts'

describe('stopping a consumer', () => {
  it('that is idle is graceful at once, and every call gets the same report', async () => {
    const { clock, consumer } = bench()
    const subject = consumer(done)
    await subject.start()
    await clock.advance(1)
    const report = await subject.stop()
    expect(report).toMatchObject({
      outcome: 'graceful',
      graceful: true,
      elapsedMs: 0,
      unsettled: 0,
      unresolved: [],
      settlements: { deliveries: 0, inFlight: 0 },
    })
    expect(await subject.stop({ budgetMs: 5 })).toBe(report)
    expect(subject.state).toBe('stopped')
  })

  it('that is busy lets handlers finish and settle, and takes nothing new', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    const end = gate()
    const subject = consumer(() => end.promise)
    order('a', 'b')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await clock.advance(5000)
    expect(seen[0]?.context.stopping.aborted).toBe(true)
    expect(seen[0]?.context.signal.aborted).toBe(false)
    end.open()
    await clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { acked: 1, inFlight: 0 } })
    expect(broker.count('orders')).toEqual({ ready: 1, unsettled: 0, delayed: 0 })
    expect(seen).toHaveLength(1)
  })

  it('gives back what is buffered and not started', async () => {
    const { broker, clock, consumer, order } = bench()
    const end = gate()
    const subject = consumer(() => end.promise, { prefetch: 10 })
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(1)
    expect(broker.count('orders').unsettled).toBe(3)
    const stopped = subject.stop()
    await clock.advance(1)
    expect(broker.count('orders')).toMatchObject({ ready: 2, unsettled: 1 })
    end.open()
    await clock.advance(1)
    expect((await stopped).settlements).toMatchObject({ deliveries: 1, acked: 1 })
  })

  it('aborts the signal of a handler after the grace, takes that for no failure, and reports it as forced', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const subject = consumer(
      (_order, { signal }) =>
        new Promise<undefined>((_resolve, refuse) => {
          signal.addEventListener('abort', () => {
            refuse(new Error('told to end'))
          })
        }),
    )
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 10_000, graceMs: 2000 })
    await clock.advance(2001)
    expect(await stopped).toMatchObject({
      outcome: 'forced',
      graceful: false,
      unsettled: 0,
      settlements: { returned: 1, inFlight: 0 },
    })
    expect([broker.count('orders').ready, waiting('orders.dead').length]).toEqual([1, 0])
  })

  it('lets a handler that is told to end settle what it has done', async () => {
    const { clock, consumer, order } = bench()
    const subject = consumer(
      (_order, { signal }) =>
        new Promise<undefined>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(undefined)
          })
        }),
    )
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 1000 })
    await clock.advance(801)
    expect(await stopped).toMatchObject({ outcome: 'forced', settlements: { acked: 1 } })
  })

  it('with a handler that never ends keeps the deadline, and late work settles nothing', async () => {
    const { broker, clock, consumer, order } = bench()
    const end = gate()
    const subject = consumer(() => end.promise, { executionBudgetMs: 600_000 })
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 10_000 })
    await clock.advance(10_000)
    expect(await stopped).toMatchObject({
      outcome: 'incomplete',
      elapsedMs: 10_000,
      unsettled: 1,
      unresolved: ['a'],
      settlements: { deliveries: 1, inFlight: 1 },
    })
    end.open()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, pending_redelivery: 1, inFlight: 0 })
    expect(broker.count('orders')).toEqual({ ready: 1, unsettled: 0, delayed: 0 })
  })

  it('again with less time ends sooner, and with more not later', async () => {
    const { clock, consumer, order } = bench()
    const subject = consumer(() => gate().promise)
    order('a')
    await subject.start()
    await clock.advance(1)
    const first = subject.stop({ budgetMs: 60_000 })
    await clock.advance(1000)
    const second = subject.stop({ budgetMs: 500 })
    void subject.stop({ budgetMs: 60_000 })
    await clock.advance(500)
    expect(await second).toMatchObject({ outcome: 'incomplete', elapsedMs: 1500 })
    expect(await first).toEqual(await second)
  })

  it('gives back at the force notice what waits behind a stuck one of its key', async () => {
    const { clock, consumer, put, seen } = bench()
    const headers = { ...contractHeaders, 'litebus-ordering-key': 'k' }
    const subject = consumer(() => new Promise<never>(() => undefined), { concurrency: 3 })
    put({ messageId: 'a', headers }, { messageId: 'b', headers })
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 1000 })
    await clock.advance(1000)
    expect(await stopped).toMatchObject({ unresolved: ['a'], settlements: { returned: 1, inFlight: 1 } })
    expect(seen).toHaveLength(1)
  })

  it('in the middle of a handoff of which nothing was taken gives the delivery back', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    broker.deleteQueue('orders.dead')
    const subject = consumer(() => reject({ code: 'NEVER' }))
    order('a')
    await subject.start()
    await clock.advance(5000)
    const stopped = subject.stop()
    await clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { returned: 1, inFlight: 0 } })
    expect(broker.count('orders').ready).toBe(1)
    expect(waiting('orders.dead')).toEqual([])
  })

  it('in the middle of a handoff that may have been taken waits for the confirm', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const confirm = broker.faults.holdConfirms()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await clock.advance(5000)
    confirm()
    await clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { acked_dead_letter: 1 } })
    expect(waiting('orders.dead')).toHaveLength(1)
  })

  it('cancels such a handoff after the grace and leaves the original unresolved, without a return', async () => {
    const { broker, clock, consumer, order } = bench()
    broker.faults.holdConfirms()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 10_000 })
    await clock.advance(10_000)
    expect(await stopped).toMatchObject({
      outcome: 'incomplete',
      unsettled: 1,
      unresolved: ['a'],
      settlements: { unresolved: 1, returned: 0, inFlight: 0 },
    })
    expect(broker.count('orders').ready).toBe(1)
  })
})

describe('starting a consumer', () => {
  it('of a queue that is missing says so', async () => {
    const { consumer } = bench()
    const subject = consumer(done, { source: 'nowhere' })
    await expect(subject.start()).rejects.toThrow(/nowhere/)
    await subject.stop()
  })

  it('of a broker that cannot be reached goes on trying', async () => {
    const { broker, clock, consumer, order, seen } = bench()
    broker.faults.setReachable(false)
    broker.faults.dropConnections()
    const subject = consumer(done)
    await subject.start()
    expect(subject.state).toBe('recovering')
    order('a')
    await clock.advance(12_000)
    expect(seen).toEqual([])
    broker.faults.setReachable(true)
    await clock.advance(5000)
    expect([seen.length, subject.state]).toEqual([1, 'consuming'])
    await subject.stop()
  })

  it('twice, or after a stop, is refused', async () => {
    const { consumer } = bench()
    const subject = consumer(done)
    await subject.start()
    await expect(subject.start()).rejects.toThrow(InvalidOperationError)
    await subject.stop()
    await expect(subject.start()).rejects.toThrow(InvalidOperationError)
  })

  it('and stopping meanwhile leaves no subscription behind', async () => {
    const { clock, consumer, order, seen } = bench()
    const subject = consumer(done)
    const started = subject.start()
    const stopped = subject.stop()
    await Promise.all([started, stopped])
    order('a')
    await clock.advance(1)
    expect(seen).toEqual([])
  })

  it('again after its queue was deleted goes on when the queue is back', async () => {
    const { broker, clock, consumer, logged, order, seen } = bench()
    const subject = consumer(done)
    await subject.start()
    broker.deleteQueue('orders')
    await clock.advance(30_000)
    expect(subject.state).toBe('recovering')
    broker.declareQueue({ name: 'orders' })
    await clock.advance(5000)
    order('a')
    await clock.advance(1)
    expect(seen).toHaveLength(1)
    expect(logged.some(({ fields }) => fields.eventId === 3002)).toBe(true)
    await subject.stop()
  })
})
