import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { StoreUnavailableError, type FailureClassifier, type Logger, type Telemetry } from '@litebus/core'
import { createProcessor, type DispatchOutcome } from '../src/index.ts'
import { bench, succeed } from './arrange.ts'

const refuse = (): never => {
  throw new Error('broken')
}
const reject = (): never => Promise.reject(new Error('broken')) as never
const loggers: readonly (readonly [string, Logger])[] = [refuse, reject].map((broken) => [
  broken === refuse ? 'throws' : 'rejects',
  { debug: broken, info: broken, warn: broken, error: broken },
])
const telemetries: readonly (readonly [string, Telemetry])[] = [refuse, reject].map((broken) => [
  broken === refuse ? 'throws' : 'rejects',
  { count: broken, record: broken, observe: broken, startSpan: broken },
])

describe('code of the application around a dispatch', () => {
  let warned: unknown[][]
  beforeEach(() => {
    warned = []
    jest.spyOn(process, 'emitWarning').mockImplementation((...warning: unknown[]) => {
      warned.push(warning)
    })
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it.each(telemetries)(
    'a telemetry that %s costs no slot, no loop and no message',
    async (_how, telemetry) => {
      const { add, clock, processor, stateOf } = bench()
      const ids = await add(undefined, undefined, undefined)
      const subject = processor(succeed, { telemetry, concurrency: 1, pollMs: 100 })
      subject.start()
      await clock.advance(500)
      expect(await Promise.all(ids.map(stateOf))).toEqual(['succeeded', 'succeeded', 'succeeded'])
      expect((await subject.stop()).graceful).toBe(true)
      expect(warned).toHaveLength(1)
    },
  )

  it.each(loggers)('a logger that %s stops no loop; the process is warned once', async (_how, logger) => {
    const { add, clock, processor, stateOf, storage } = bench()
    const [id = ''] = await add(undefined)
    let faults = 2
    const store: typeof storage.inbox = {
      ...storage.inbox,
      lease: (request) =>
        faults-- > 0 ? Promise.reject(new StoreUnavailableError('down')) : storage.inbox.lease(request),
    }
    const subject = processor(succeed, { logger, store, pollMs: 100 })
    subject.start()
    await clock.advance(2000)
    expect(await stateOf(id)).toBe('succeeded')
    await subject.stop()
    expect(warned.map(([text]) => text)).toEqual([
      'the logger given to LiteBus failed (Error); further failures of it are not reported',
    ])
  })

  it.each<readonly [string, FailureClassifier]>([
    ['throws', refuse],
    ['answers null', () => null as never],
    ['answers an unknown category', () => ({ category: 'WEATHER', code: 'RAIN' }) as never],
    ['answers a code that is no text', () => ({ category: 'TIMEOUT', code: 7 }) as never],
    ['answers later', () => Promise.reject(new Error('later')) as never],
  ])('a classifier that %s leaves the failure to the default one', async (_how, classifier) => {
    const { add, clock, processor, storage, logged } = bench()
    const [id = ''] = await add(undefined)
    const fault = Object.assign(new Error('x'), { code: 'ECONNRESET' })
    const pass = processor(() => Promise.reject(fault), { classifier }).processPending()
    await clock.advance(1)
    expect(await pass).toMatchObject({ failed: 1 })
    expect((await storage.inbox.get(id))?.failures).toMatchObject([
      { category: 'DEPENDENCY', code: 'ECONNRESET' },
    ])
    expect(logged).toEqual(['the failure classifier failed, the default one decides'])
  })

  it.each<readonly [string, unknown, object]>([
    ['nothing', undefined, { deadLettered: 1 }],
    ['a kind that is none', { kind: 'done' }, { deadLettered: 1 }],
    ['a failure without a category', { kind: 'failed' }, { failed: 1 }],
    ['an unknown category', { kind: 'failed', failure: { category: 'X', code: 'Y' } }, { failed: 1 }],
  ])('a dispatcher that answers %s hurts only its own message', async (_what, answer, expected) => {
    const { add, clock, processor } = bench()
    const [bad] = await add(undefined, undefined, undefined)
    const pass = processor(({ message }) =>
      message.id === bad ? (answer as DispatchOutcome) : succeed(),
    ).processPending()
    await clock.advance(1)
    expect(await pass).toMatchObject({ ...expected, succeeded: 2, persistFailed: 0 })
  })

  it('a dispatcher whose close throws does not keep a stop from ending', async () => {
    const { storage } = bench()
    const subject = createProcessor({
      store: storage.inbox,
      dispatcher: { dispatch: succeed, close: refuse },
    })
    expect((await subject.stop()).graceful).toBe(true)
  })
})

describe('a group of settlements', () => {
  it('is told apart when the store refuses one of them, so that the others are not hurt', async () => {
    const { add, clock, processor, storage } = bench()
    const [bad = ''] = await add(undefined, undefined, undefined)
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: (outcomes) =>
        outcomes.some(({ lease }) => lease.id === bad)
          ? Promise.reject(new TypeError('cannot encode'))
          : storage.inbox.settle(outcomes),
    }
    const pass = processor(succeed, { store }).processPending()
    await clock.advance(1)
    expect(await pass).toMatchObject({ succeeded: 2, persistFailed: 1 })
  })

  it('of successes is not held up by failures that cannot be stored', async () => {
    const { add, clock, processor, stateOf, storage } = bench()
    const [failing = '', other = ''] = await add(undefined, undefined)
    let unavailable = true
    const store: typeof storage.inbox = {
      ...storage.inbox,
      settle: (outcomes) =>
        unavailable && outcomes.some(({ kind }) => kind !== 'succeeded')
          ? Promise.reject(new StoreUnavailableError('down'))
          : storage.inbox.settle(outcomes),
    }
    const pass = processor(
      ({ message }) => (message.id === failing ? Promise.reject(new Error('x')) : succeed()),
      { store },
    ).processPending()
    await clock.advance(40)
    expect(await stateOf(other)).toBe('succeeded')
    unavailable = false
    await clock.advance(1000)
    expect(await pass).toMatchObject({ succeeded: 1, failed: 1, leaseLost: 0 })
  })
})
