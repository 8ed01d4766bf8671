import { describe, expect, it } from '@jest/globals'
import { bench, gate, succeed } from './arrange.ts'

const budget = { executionBudgetMs: 1000, abortWaitMs: 500, leaseMs: 2000, heartbeatMs: 800 }
const forever = (): Promise<never> => new Promise(() => undefined)

describe('the execution budget', () => {
  it('tells a dispatch to end, and takes its success when it ends in time after that', async () => {
    const { add, clock, processor, stateOf } = bench()
    const [id = ''] = await add(undefined)
    const pass = processor(
      (_envelope, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(succeed())
          })
        }),
      budget,
    ).processPending()
    await clock.advance(999)
    expect(await stateOf(id)).toBe('leased')
    await clock.advance(1)
    expect((await pass).succeeded).toBe(1)
  })

  it('counts what a dispatch throws when it was told to end as a timeout', async () => {
    const { add, clock, processor, storage } = bench()
    const [id = ''] = await add(undefined)
    const pass = processor(
      (_envelope, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
      budget,
    ).processPending()
    await clock.advance(1000)
    expect(await pass).toMatchObject({ failed: 1 })
    expect((await storage.inbox.get(id))?.failures).toMatchObject([
      { category: 'TIMEOUT', code: 'EXECUTION_BUDGET_EXCEEDED' },
    ])
  })

  it('gives up a dispatch that never ends: its slot is free, its attempt has failed, its lease is gone', async () => {
    const { add, clock, processor, seen, storage, logged } = bench()
    const [endless = '', other = ''] = await add(undefined, undefined)
    let givenUp = false
    const pass = processor(
      ({ message }, context) => {
        if (message.id !== endless) return succeed()
        context.givenUp.addEventListener('abort', () => {
          givenUp = true
        })
        return forever()
      },
      { ...budget, concurrency: 1 },
    ).processPending()
    await clock.advance(1499)
    expect([givenUp, seen.length]).toEqual([false, 1])
    await clock.advance(1)
    expect(await pass).toMatchObject({ failed: 1, succeeded: 1 })
    expect(givenUp).toBe(true)
    expect(await storage.inbox.get(endless)).toMatchObject({
      state: 'retryScheduled',
      failures: [{ category: 'TIMEOUT', code: 'EXECUTION_BUDGET_EXCEEDED' }],
    })
    expect((await storage.inbox.get(other))?.state).toBe('succeeded')
    expect(logged).toContain('a dispatch that was told to end failed')
  })

  it('ignores what a dispatch answers after it was given up', async () => {
    const { add, clock, processor, storage } = bench()
    const [id = ''] = await add(undefined)
    const late = gate()
    const subject = processor(() => late.promise.then(succeed), { ...budget, maxAttempts: 1 })
    const pass = subject.processPending()
    await clock.advance(1500)
    expect(await pass).toMatchObject({ deadLettered: 1 })
    late.open()
    await clock.advance(10)
    expect((await storage.inbox.get(id))?.state).toBe('parked')
    expect((await subject.stop()).graceful).toBe(true)
  })

  it('parks at last a message whose handler never ends', async () => {
    const { add, clock, processor, stateOf } = bench()
    const [id = ''] = await add(undefined)
    const subject = processor(forever, { ...budget, maxAttempts: 3, pollMs: 100 })
    subject.start()
    await clock.advance(20_000)
    expect(await stateOf(id)).toBe('parked')
    await subject.stop()
  })

  it('frees the slot of a dispatch that goes on although its lease is lost', async () => {
    const { add, clock, processor, storage } = bench()
    await add(undefined, undefined)
    const store: typeof storage.inbox = {
      ...storage.inbox,
      renew: (leases) => Promise.resolve(leases.map((_, index) => (index === 0 ? 'lost' : 'renewed'))),
    }
    let calls = 0
    const pass = processor(() => (++calls === 1 ? forever() : succeed()), {
      ...budget,
      executionBudgetMs: 60_000,
      concurrency: 1,
      store,
    }).processPending()
    await clock.advance(800 + 500)
    expect(await pass).toMatchObject({ leaseLost: 1, succeeded: 1 })
  })

  it('lets a suspect run although a handler never ends', async () => {
    const { add, clock, processor, storage, stateOf } = bench()
    const [suspect = ''] = await add(undefined)
    await storage.another().inbox.lease({ owner: 'dead', limit: 1, leaseMs: 100, maxAttempts: 10 })
    const [endless = ''] = await add(undefined)
    const subject = processor(({ message }) => (message.id === endless ? forever() : succeed()), {
      ...budget,
      maxAttempts: 100,
      pollMs: 100,
    })
    subject.start()
    await clock.advance(3000)
    expect(await stateOf(suspect)).toBe('succeeded')
    const stopped = subject.stop({ graceMs: 0, abortWaitMs: 0 })
    await clock.advance(1)
    await stopped
  })

  it('is not spent by a stop: what does not end then is reported', async () => {
    const { add, clock, processor, stateOf } = bench()
    const [id = ''] = await add(undefined)
    let givenUp = false
    const subject = processor(
      (_envelope, context) => {
        context.givenUp.addEventListener('abort', () => {
          givenUp = true
        })
        return forever()
      },
      { ...budget, executionBudgetMs: 10_000 },
    )
    const pass = subject.processPending()
    await clock.advance(1)
    const stopped = subject.stop({ graceMs: 100, abortWaitMs: 2000 })
    await clock.advance(2100)
    expect((await stopped).unresolved.map(({ messageId }) => messageId)).toEqual([id])
    expect(await pass).toMatchObject({ failed: 0, persistFailed: 1 })
    expect([givenUp, await stateOf(id)]).toEqual([true, 'leased'])
  })
})
