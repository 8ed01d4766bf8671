import { describe, expect, it } from '@jest/globals'
import { OptionsError } from '@litebus/core'
import { createProcessor } from '../src/index.ts'
import { type DispatchOutcome } from '../src/index.ts'
import { bench, gate, succeed } from './arrange.ts'

const failed = { kind: 'failed', failure: { category: 'DEPENDENCY', code: 'DOWN' } } as const

describe('a pass', () => {
  it('completes what succeeds, schedules what fails and parks what is rejected', async () => {
    const { add, processor, stateOf } = bench()
    const [good = '', bad = '', poison = ''] = await add(undefined, undefined, undefined)
    const outcomes = new Map<string, DispatchOutcome>([
      [bad, failed],
      [poison, { kind: 'rejected', failure: { category: 'REJECTED', code: 'NO' } } as const],
    ])
    const summary = await processor(({ message }) => outcomes.get(message.id) ?? succeed()).processPending()
    expect(summary).toEqual({
      leased: 3,
      succeeded: 1,
      failed: 1,
      deadLettered: 1,
      released: 0,
      leaseLost: 0,
      persistFailed: 0,
    })
    expect([await stateOf(good), await stateOf(bad), await stateOf(poison)]).toEqual([
      'succeeded',
      'retryScheduled',
      'parked',
    ])
  })

  it('retries with backoff until the attempts are used up, then parks with the history', async () => {
    const { add, clock, processor, seen, storage } = bench()
    const [id = ''] = await add(undefined)
    const subject = processor(() => failed, { maxAttempts: 3, backoff: { jitter: 'none' } })
    await subject.processPending()
    expect((await subject.processPending()).leased).toBe(0)
    await clock.advance(1000)
    await subject.processPending()
    await clock.advance(1999)
    expect((await subject.processPending()).leased).toBe(0)
    await clock.advance(1)
    expect((await subject.processPending()).deadLettered).toBe(1)
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    const record = await storage.inbox.get(id)
    expect(record?.state).toBe('parked')
    expect(record?.failures.map(({ attempt, code }) => [attempt, code])).toEqual([
      [1, 'DOWN'],
      [2, 'DOWN'],
      [3, 'DOWN'],
    ])
  })

  it.each([
    'DESERIALIZATION',
    'VALIDATION',
    'AUTHENTICATION',
    'AUTHORIZATION',
    'CONFIGURATION',
    'REJECTED',
  ] as const)('parks a failure of category %s at once', async (category) => {
    const { add, processor } = bench()
    await add(undefined)
    const summary = await processor(() => ({
      kind: 'failed',
      failure: { category, code: 'X' },
    })).processPending()
    expect(summary.deadLettered).toBe(1)
  })

  it('treats a throw as a failure of that message alone', async () => {
    const { add, processor } = bench()
    const [first] = await add(undefined, undefined)
    const summary = await processor(({ message }) => {
      if (message.id === first) throw new TypeError('bug')
      return succeed()
    }).processPending()
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 })
  })

  it('gives the attempt back when the destination is unavailable', async () => {
    const { add, clock, processor, seen } = bench()
    await add(undefined)
    const subject = processor(() => (seen.length < 3 ? { kind: 'unavailable', delayMs: 500 } : succeed()))
    for (let round = 0; round < 3; round++) {
      await subject.processPending()
      await clock.advance(500)
    }
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
  })

  it('dispatches at most as many at a time as it may', async () => {
    const { add, processor } = bench()
    await add(...Array.from({ length: 20 }, () => undefined))
    let running = 0
    let most = 0
    const subject = processor(
      async () => {
        most = Math.max(most, ++running)
        await Promise.resolve()
        running -= 1
        return succeed()
      },
      { concurrency: 3 },
    )
    expect((await subject.processPending()).succeeded).toBe(20)
    expect(most).toBe(3)
  })
})

describe('ordering keys', () => {
  it('runs the messages of one key one after another and those of others beside them', async () => {
    const { add, processor, seen } = bench()
    const ids = await add('a', 'a', 'b', 'a')
    const first = gate()
    const subject = processor(async ({ message }) => {
      if (message.id === ids[0]) await first.promise
      return succeed()
    })
    const pass = subject.processPending()
    await new Promise(setImmediate)
    expect(seen.map(({ message }) => message.id)).toEqual([ids[0], ids[2]])
    first.open()
    expect((await pass).succeeded).toBe(4)
    expect(seen.map(({ message }) => message.id)).toEqual([ids[0], ids[2], ids[1], ids[3]])
  })

  it('gives back everything behind a message that failed, without spending attempts', async () => {
    const { add, clock, processor, seen } = bench()
    const ids = await add('a', 'a', 'a')
    const subject = processor(
      ({ attempt, message }) => (message.id === ids[0] && attempt === 1 ? failed : succeed()),
      {
        backoff: { jitter: 'none' },
      },
    )
    expect(await subject.processPending()).toMatchObject({ failed: 1, released: 2 })
    expect((await subject.processPending()).leased).toBe(0)
    await clock.advance(1000)
    expect((await subject.processPending()).succeeded).toBe(3)
    expect(seen.map(({ attempt, message }) => [ids.indexOf(message.id), attempt])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
      [2, 1],
    ])
  })
})

describe('hooks', () => {
  it.each([
    ['deadLetter', 'parked'],
    ['completeDespiteHookFailure', 'succeeded'],
  ] as const)('meet a failing afterDispatch by policy %s: %s', async (onHookFailure, state) => {
    const { add, processor, stateOf } = bench()
    const [id = ''] = await add(undefined)
    const hooks = {
      afterDispatch: () => {
        throw new Error('x')
      },
    }
    await processor(succeed, { hooks, onHookFailure }).processPending()
    expect(await stateOf(id)).toBe(state)
  })

  it('call abandon for what failed and not for what succeeded', async () => {
    const { add, processor } = bench()
    const ids = await add(undefined, undefined)
    const abandoned: string[] = []
    const hooks = {
      abandon: ({ message }: { readonly message: { readonly id: string } }) => {
        abandoned.push(message.id)
      },
    }
    await processor(({ message }) => (message.id === ids[0] ? failed : succeed()), { hooks }).processPending()
    expect(abandoned).toEqual([ids[0]])
  })
})

describe('options', () => {
  it('are refused with every fault at once', () => {
    const { storage } = bench()
    const create = (): unknown =>
      createProcessor({
        store: storage.inbox,
        dispatcher: { dispatch: succeed },
        batchSize: 0,
        concurrency: 1.5,
        leaseMs: 1000,
        heartbeatMs: 501,
        backoff: { multiplier: 0 },
      })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(
      /batchSize.*concurrency.*heartbeatMs of at most half of leaseMs \(500\), found 501.*multiplier/,
    )
  })
})
