import { describe, expect, it } from '@jest/globals'
import { sleep, StoreUnavailableError, type MessageStore } from '@litebus/core'
import type { ManualClock } from '@litebus/conformance'
import type { Processor } from '../src/index.ts'
import { bench, gate, succeed } from './arrange.ts'

async function drained(subject: Processor, clock: ManualClock): Promise<boolean> {
  const answer = subject.drain(60_000)
  for (let round = 0; round < 40; round += 1) await clock.advance(100)
  return answer
}

describe('leases', () => {
  it('renews what is held, queued rows included, so that a long handler keeps its row', async () => {
    const { add, clock, processor, storage } = bench()
    await add(undefined, undefined)
    const done = gate()
    const pass = processor(
      async () => {
        await done.promise
        return succeed()
      },
      { leaseMs: 1000, heartbeatMs: 400, concurrency: 1 },
    ).processPending()
    await clock.advance(5000)
    const other = await storage.inbox.lease({ owner: 'other', limit: 10, leaseMs: 1000, maxAttempts: 10 })
    expect(other.envelopes).toEqual([])
    done.open()
    await clock.advance(10)
    expect((await pass).succeeded).toBe(2)
  })

  it('aborts the dispatch of a row whose lease another owner took, and leaves the row to it', async () => {
    const { add, clock, processor, storage } = bench()
    await add(undefined)
    const store = storage.inbox
    let renewable = true
    const flaky: MessageStore<never> = {
      ...(store as MessageStore<never>),
      renew: (leases, leaseMs) =>
        renewable ? store.renew(leases, leaseMs) : Promise.reject(new StoreUnavailableError('down')),
    }
    let aborted = false
    const end = gate()
    const subject = processor(
      async (_envelope, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true
        })
        await end.promise
        return succeed()
      },
      { store: flaky as unknown as typeof store, leaseMs: 1000, heartbeatMs: 400 },
    )
    const pass = subject.processPending()
    renewable = false
    await clock.advance(1300)
    expect(aborted).toBe(true)
    const other = await storage
      .another()
      .inbox.lease({ owner: 'other', limit: 1, leaseMs: 60_000, maxAttempts: 10 })
    expect(other.envelopes).toHaveLength(1)
    end.open()
    await clock.advance(1)
    expect(await pass).toMatchObject({ leaseLost: 1, succeeded: 0, failed: 0 })
    expect((await storage.inbox.get(other.envelopes[0]?.lease.id ?? ''))?.state).toBe('leased')
  })
})

describe('settling', () => {
  it('does not mark a message failed when its completion cannot be stored, and dispatches it again later', async () => {
    const { add, clock, processor, seen, storage, stateOf } = bench()
    const [id = ''] = await add(undefined)
    let broken = true
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: (outcomes) => (broken ? Promise.reject(new Error('disk')) : storage.inbox.settle(outcomes)),
    }
    const subject = processor(succeed, { store, leaseMs: 1000, heartbeatMs: 400 })
    expect(await subject.processPending()).toMatchObject({ persistFailed: 1, failed: 0, succeeded: 0 })
    expect(await stateOf(id)).toBe('leased')
    broken = false
    await clock.advance(1100)
    expect((await subject.processPending()).succeeded).toBe(1)
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  it('tells an unavailable store again while the lease may stand', async () => {
    const { add, clock, processor, storage, stateOf } = bench()
    const [id = ''] = await add(undefined)
    let faults = 3
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: (outcomes) =>
        faults-- > 0
          ? Promise.reject(new StoreUnavailableError('restarting'))
          : storage.inbox.settle(outcomes),
    }
    const pass = processor(succeed, { store }).processPending()
    await clock.advance(1000)
    expect((await pass).succeeded).toBe(1)
    expect(await stateOf(id)).toBe('succeeded')
  })

  it('settles everything that finished together in one statement', async () => {
    const { add, processor, storage } = bench()
    await add(...Array.from({ length: 50 }, () => undefined))
    const sizes: number[] = []
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: (outcomes) => {
        sizes.push(outcomes.length)
        return storage.inbox.settle(outcomes)
      },
    }
    await processor(succeed, { store, concurrency: 50 }).processPending()
    expect(sizes).toEqual([50])
  })

  it('of what has ended is not waited for: a dispatch that ends makes room for the next rows by itself', async () => {
    const { add, clock, processor, seen, storage } = bench()
    await add(...Array.from({ length: 40 }, () => undefined))
    const goOn = gate()
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: async (outcomes) => {
        await goOn.promise
        return storage.inbox.settle(outcomes)
      },
    }
    const subject = processor(
      async () => {
        await sleep(clock, 50)
        return succeed()
      },
      { store, batchSize: 4, concurrency: 4 },
    )
    subject.start()
    for (let round = 0; round < 40; round += 1) await clock.advance(25)
    // Three batches that have ended, and the two that were leased before the third had.
    expect(seen).toHaveLength(20)
    goOn.open()
    expect(await drained(subject, clock)).toBe(true)
    await subject.stop()
  })

  it('of what has ended does not keep the next rows from being leased, up to three batches', async () => {
    const { add, clock, processor, seen, storage } = bench()
    const ids = await add(...Array.from({ length: 40 }, () => undefined))
    const slowOnes = new Set(ids.slice(0, 4))
    const goOn = gate()
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: async (outcomes) => {
        await goOn.promise
        return storage.inbox.settle(outcomes)
      },
    }
    const subject = processor(
      async ({ message }) => {
        if (slowOnes.has(message.id)) await goOn.promise
        return succeed()
      },
      { store, batchSize: 4, concurrency: 8 },
    )
    subject.start()
    for (let round = 0; round < 20; round += 1) await clock.advance(1000)
    expect(seen).toHaveLength(slowOnes.size + 12)
    goOn.open()
    expect(await drained(subject, clock)).toBe(true)
    expect(seen).toHaveLength(ids.length)
    await subject.stop()
  })

  it.each([
    [true, true],
    [false, false],
  ])(
    'with honorShutdownTokenOnPersist %p a stop reaches the settle: %p',
    async (honorShutdownTokenOnPersist, reached) => {
      const { add, processor, storage } = bench()
      await add(undefined)
      let signal: AbortSignal | undefined
      const inSettle = gate()
      const goOn = gate()
      const store: typeof storage.inbox = {
        ...storage.inbox,
        settle: async (outcomes, options) => {
          signal = options?.signal
          inSettle.open()
          await goOn.promise
          return storage.inbox.settle(outcomes)
        },
      }
      const subject = processor(succeed, { store, honorShutdownTokenOnPersist })
      void subject.processPending()
      await inSettle.promise
      const stopped = subject.stop()
      expect(signal?.aborted ?? false).toBe(reached)
      goOn.open()
      expect((await stopped).graceful).toBe(true)
    },
  )
})
