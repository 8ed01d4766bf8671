import { describe, expect, it } from '@jest/globals'
import type { Processor } from '../src/index.ts'
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

  it.each<readonly [string, (subject: Processor) => unknown]>([
    ['stop', (subject) => subject.stop()],
    ['pause', (subject) => subject.pause()],
    [
      'resume',
      (subject) => {
        subject.resume()
      },
    ],
  ])('drain says at once that a %s came in between', async (_what, interrupt) => {
    const { add, clock, processor } = bench()
    await add(undefined)
    const end = gate()
    const subject = processor(() => end.promise.then(succeed))
    subject.start()
    await clock.advance(1)
    const drained = subject.drain(60_000)
    void interrupt(subject)
    expect(await drained).toBe(false)
    end.open()
    await subject.stop()
  })

  it('drain says that a stop came in between also when nothing is held', async () => {
    const { clock, processor, storage } = bench()
    const looking = gate()
    const store: typeof storage.inbox = {
      ...storage.inbox,
      lease: async (request) => {
        await looking.promise
        return storage.inbox.lease(request)
      },
    }
    const subject = processor(succeed, { store })
    subject.start()
    await clock.advance(1)
    const drained = subject.drain(60_000)
    const stopped = subject.stop()
    expect(await drained).toBe(false)
    looking.open()
    await stopped
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
