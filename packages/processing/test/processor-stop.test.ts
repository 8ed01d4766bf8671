import { describe, expect, it } from '@jest/globals'
import { bench, gate, succeed } from './arrange.ts'

describe('stop', () => {
  it('lets running handlers finish, stores their outcome, and gives back what was not started with its attempt', async () => {
    const { add, clock, processor, storage, stateOf } = bench()
    const ids = await add(undefined, undefined, undefined)
    const end = gate()
    const told = gate()
    const subject = processor(
      async (_envelope, { stopping }) => {
        stopping.addEventListener('abort', () => {
          told.open()
        })
        await end.promise
        return succeed()
      },
      { concurrency: 1 },
    )
    subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await told.promise
    await clock.advance(1)
    const taken = await storage
      .another()
      .inbox.lease({ owner: 'other', limit: 10, leaseMs: 1000, maxAttempts: 10 })
    expect(taken.envelopes.map(({ attempt, message }) => [ids.indexOf(message.id), attempt])).toEqual([
      [1, 1],
      [2, 1],
    ])
    end.open()
    expect(await stopped).toMatchObject({ graceful: true, unresolved: [] })
    expect(await stateOf(ids[0] ?? '')).toBe('succeeded')
  })

  it('aborts handlers after the grace and gives their work back instead of failing it', async () => {
    const { add, clock, processor, storage } = bench()
    const [id = ''] = await add(undefined)
    const subject = processor(
      (_envelope, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('gave up'))
          })
        }),
      { graceMs: 500 },
    )
    subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await clock.advance(501)
    expect(await stopped).toMatchObject({ graceful: false, unresolved: [] })
    const record = await storage.inbox.get(id)
    expect([record?.state, record?.attempts, record?.failures]).toEqual(['awaiting', 0, []])
  })

  it('with graceMs 0 cancels at once and still waits for the handler and its terminal state', async () => {
    const { add, clock, processor, stateOf } = bench()
    const [id = ''] = await add(undefined)
    const end = gate()
    let cancelled = false
    const subject = processor(async (_envelope, { signal }) => {
      signal.addEventListener('abort', () => {
        cancelled = true
      })
      await end.promise
      return succeed()
    })
    subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ graceMs: 0 })
    await clock.advance(1)
    expect(cancelled).toBe(true)
    end.open()
    expect(await stopped).toMatchObject({ graceful: true })
    expect(await stateOf(id)).toBe('succeeded')
  })

  it('reports handlers that never end', async () => {
    const { add, clock, processor } = bench()
    const [id] = await add(undefined)
    const subject = processor(() => new Promise(() => undefined), { graceMs: 100, abortWaitMs: 100 })
    subject.start()
    await clock.advance(1)
    const stopped = subject.stop()
    await clock.advance(1000)
    expect(await stopped).toMatchObject({
      graceful: false,
      unresolved: [{ messageId: id, contractName: 'order-placed' }],
    })
  })

  it('gives back rows whose lease call was under way when it came', async () => {
    const { add, clock, processor, seen, storage, stateOf } = bench()
    const [id = ''] = await add(undefined)
    const inLease = gate()
    const goOn = gate()
    const store: typeof storage.inbox = {
      ...storage.inbox,
      lease: async (request) => {
        const batch = await storage.inbox.lease(request)
        inLease.open()
        await goOn.promise
        return batch
      },
    }
    const subject = processor(succeed, { store })
    subject.start()
    await inLease.promise
    const stopped = subject.stop()
    goOn.open()
    await clock.advance(1)
    expect((await stopped).graceful).toBe(true)
    expect(seen).toEqual([])
    expect(await stateOf(id)).toBe('awaiting')
  })
})
