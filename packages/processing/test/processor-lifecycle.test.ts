import { describe, expect, it } from '@jest/globals'
import { InvalidOperationError, StoreUnavailableError, type LeaseBatch } from '@litebus/core'
import { bench, gate, succeed } from './arrange.ts'

const none = (count: number): undefined[] => Array.from({ length: count }, () => undefined)

describe('the loop', () => {
  it('works off everything that is due and then what arrives', async () => {
    const { add, clock, processor, seen } = bench()
    await add(...none(250))
    const subject = processor(succeed, { batchSize: 50 })
    subject.start()
    await clock.advance(10)
    expect(seen).toHaveLength(250)
    await add(...none(3))
    await clock.advance(1000)
    expect(seen).toHaveLength(253)
    await subject.stop()
  })

  it('goes on after faults of the store, logs each change of state once and the same trouble every ten seconds', async () => {
    const { add, clock, logged, processor, seen, storage } = bench()
    await add(undefined)
    let down = true
    const store: typeof storage.inbox = {
      ...storage.inbox,
      lease: (request): Promise<LeaseBatch> =>
        down ? Promise.reject(new StoreUnavailableError('down')) : storage.inbox.lease(request),
    }
    const subject = processor(succeed, { store })
    subject.start()
    await clock.advance(60_000)
    expect(seen).toEqual([])
    expect(logged.length).toBeGreaterThan(1)
    expect(logged.length).toBeLessThanOrEqual(7)
    down = false
    await clock.advance(6000)
    expect(seen).toHaveLength(1)
    expect(logged.filter((line) => line === 'lease works again')).toHaveLength(1)
    await subject.stop()
  })

  it('looks again as soon as a scheduled message is due', async () => {
    const { clock, processor, seen, storage } = bench()
    await storage.inbox.append([
      {
        id: '0198c0de-0000-7000-8000-000000000001',
        contractName: 'c',
        contractVersion: 1,
        body: new Uint8Array(),
        visibility: { afterMs: 300 },
      },
    ])
    const subject = processor(succeed, { pollMs: 60_000 })
    subject.start()
    await clock.advance(299)
    expect(seen).toEqual([])
    await clock.advance(2)
    expect(seen).toHaveLength(1)
    await subject.stop()
  })

  it('does not hoard rows of slow handlers', async () => {
    const { add, clock, processor, storage } = bench()
    await add(...none(100))
    const end = gate()
    const subject = processor(
      async () => {
        await end.promise
        return succeed()
      },
      { batchSize: 10, concurrency: 2 },
    )
    subject.start()
    await clock.advance(5000)
    const other = await storage.inbox.lease({ owner: 'other', limit: 100, leaseMs: 1000, maxAttempts: 10 })
    expect(other.envelopes.length).toBeGreaterThanOrEqual(80)
    end.open()
    await subject.stop()
  })
})

describe('control', () => {
  it('pause waits for what is held and leases nothing until resume', async () => {
    const { add, clock, processor, seen } = bench()
    await add(undefined)
    const end = gate()
    const subject = processor(async () => {
      await end.promise
      return succeed()
    })
    subject.start()
    await clock.advance(1)
    let paused = false
    const pausing = subject.pause().then(() => {
      paused = true
    })
    await clock.advance(1)
    expect([paused, subject.state]).toEqual([false, 'paused'])
    end.open()
    await pausing
    await add(undefined)
    await clock.advance(5000)
    expect(seen).toHaveLength(1)
    subject.resume()
    await clock.advance(1)
    expect(seen).toHaveLength(2)
    await subject.stop()
  })

  it('drain works off what is due and then leases nothing', async () => {
    const { add, clock, processor, seen } = bench()
    await add(...none(30))
    const subject = processor(succeed, { batchSize: 10 })
    subject.start()
    const drained = subject.drain()
    await clock.advance(1000)
    expect(await drained).toBe(true)
    expect(seen).toHaveLength(30)
    await add(undefined)
    await clock.advance(5000)
    expect(seen).toHaveLength(30)
    await subject.stop()
  })

  it('drain says when the time was not enough', async () => {
    const { add, clock, processor } = bench()
    await add(undefined)
    const end = gate()
    const subject = processor(async () => {
      await end.promise
      return succeed()
    })
    subject.start()
    await clock.advance(1)
    const drained = subject.drain(100)
    await clock.advance(101)
    expect(await drained).toBe(false)
    end.open()
    await subject.stop()
  })

  it('refuses processPending while the loop runs, and everything after a stop', async () => {
    const { processor } = bench()
    const subject = processor(succeed)
    subject.start()
    await expect(subject.processPending()).rejects.toThrow(InvalidOperationError)
    await subject.stop()
    await expect(subject.processPending()).rejects.toThrow(InvalidOperationError)
    expect(() => {
      subject.start()
    }).toThrow(InvalidOperationError)
  })
})

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
