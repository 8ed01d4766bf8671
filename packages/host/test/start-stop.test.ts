import { describe, expect, it, jest } from '@jest/globals'
import { InvalidOperationError, OptionsError, sleep } from '@litebus/core'
import { createHost, type StopBudget } from '../src/index.ts'
import { bench, forever } from './arrange.ts'

describe('starting', () => {
  it('starts parts in order, each when the one before is ready', async () => {
    const { clock, events, host, part } = bench()
    const subject = host([
      part('pool', { start: () => sleep(clock, 100).then(() => events.push('pool ready')) }),
      part('relay'),
    ])
    const started = subject.start()
    await clock.advance(100)
    await started
    expect(events).toEqual(['start pool', 'pool ready', 'start relay'])
    await subject.stop()
  })

  it('that fails stops what was started, the failed part included, in reverse, and throws its error', async () => {
    const { events, host, logged, part } = bench()
    const fault = Object.assign(new Error('password=hunter2'), { code: 'ECONNREFUSED' })
    const subject = host([
      part('pool'),
      part('broker', { start: () => Promise.reject(fault) }),
      part('relay'),
    ])
    await expect(subject.start()).rejects.toBe(fault)
    expect(events).toEqual(['start pool', 'start broker', 'stop broker', 'stop pool'])
    expect(logged.some(({ fields }) => fields.error === 'ECONNREFUSED')).toBe(true)
    expect(JSON.stringify(logged)).not.toContain('hunter2')
    expect((await subject.stop()).outcome).toBe('graceful')
  })

  it('that fails throws its own error also when stopping fails too', async () => {
    const { host, part } = bench()
    const subject = host([
      part('pool', { stop: () => Promise.reject(new Error('second')) }),
      part('broker', {
        start: () => {
          throw new Error('first')
        },
      }),
    ])
    await expect(subject.start()).rejects.toThrow('first')
    expect((await subject.stop()).outcome).toBe('failed')
  })

  it('twice starts once', async () => {
    const { events, host, part } = bench()
    const subject = host([part('a')])
    await Promise.all([subject.start(), subject.start()])
    expect(events).toEqual(['start a'])
    await subject.stop()
  })

  it('after a stop is refused', async () => {
    const { host, part } = bench()
    const subject = host([part('a')])
    await subject.stop()
    await expect(subject.start()).rejects.toThrow(InvalidOperationError)
  })

  it('ends when a stop comes meanwhile, and starts no further part', async () => {
    const { clock, events, host, part } = bench()
    const subject = host([part('a', { start: () => sleep(clock, 100) }), part('b')])
    const started = subject.start()
    const refused = started.catch((error: unknown) => error)
    const stopped = subject.stop()
    await clock.advance(200)
    expect(await refused).toBeInstanceOf(InvalidOperationError)
    expect((await stopped).outcome).toBe('graceful')
    expect(events).toEqual(['start a', 'stop a'])
  })
})

describe('stopping', () => {
  it('stops parts in reverse, each when the one after has ended, and reports them', async () => {
    const { clock, events, host, part } = bench()
    const subject = host([
      part('pool'),
      part('relay', { stop: () => sleep(clock, 100).then(() => ({ graceful: true })) }),
    ])
    await subject.start()
    const stopped = subject.stop()
    await clock.advance(100)
    expect(await stopped).toEqual({
      outcome: 'graceful',
      elapsedMs: 100,
      parts: [
        { name: 'relay', status: 'stopped', elapsedMs: 100, report: { graceful: true } },
        { name: 'pool', status: 'stopped', elapsedMs: 0 },
      ],
    })
    expect(events.slice(2)).toEqual(['stop relay', 'stop pool'])
  })

  it('gives each part an even share of what is left, so that one deadline holds for all', async () => {
    const { clock, host, part } = bench()
    const budgets: StopBudget[] = []
    const note = (ms: number) => (budget: StopBudget) => {
      budgets.push(budget)
      return sleep(clock, ms)
    }
    const subject = host([part('a', { stop: note(0) }), part('b', { stop: note(400) })], {
      shutdownBudgetMs: 1000,
    })
    await subject.start()
    const stopped = subject.stop()
    await clock.advance(500)
    await stopped
    expect(budgets.map(({ budgetMs, graceMs, abortWaitMs }) => [budgetMs, graceMs, abortWaitMs])).toEqual([
      [500, 400, 75],
      [600, 480, 90],
    ])
  })

  it('goes on without a part that does not end in its share, and still stops the others', async () => {
    const { clock, events, host, part } = bench()
    const subject = host([part('pool'), part('stuck', { stop: forever })], { shutdownBudgetMs: 1000 })
    await subject.start()
    const stopped = subject.stop()
    await clock.advance(500)
    expect(await stopped).toMatchObject({
      outcome: 'incomplete',
      elapsedMs: 500,
      parts: [
        { name: 'stuck', status: 'late' },
        { name: 'pool', status: 'stopped' },
      ],
    })
    expect(events).toContain('stop pool')
  })

  it('keeps for each part the time that it asks for, whatever the others do', async () => {
    const { clock, host, part } = bench()
    const budgets: number[] = []
    const stuck = ({ budgetMs }: StopBudget): Promise<never> => {
      budgets.push(budgetMs)
      return forever()
    }
    const subject = host(
      [
        part('pool', { stop: stuck }),
        part('worker', { stop: stuck, stopBudgetMs: 600 }),
        { name: 'only probed', probe: () => undefined },
        part('http', { stop: stuck }),
      ],
      { shutdownBudgetMs: 1000 },
    )
    await subject.start()
    const stopped = subject.stop()
    await clock.advance(1000)
    expect(budgets).toEqual([200, 600, 200])
    expect(await stopped).toMatchObject({ outcome: 'incomplete', elapsedMs: 1000 })
  })

  it('refuses budgets of parts that are more than there is', () => {
    const { host, part } = bench()
    expect(() =>
      host([part('a', { stopBudgetMs: 600 }), part('b', { stopBudgetMs: 500 })], { shutdownBudgetMs: 1000 }),
    ).toThrow(OptionsError)
  })

  it('is not kept from its end by a logger that throws', async () => {
    const { host, part } = bench()
    const log = (): never => {
      throw new Error('disk full')
    }
    const logger = { debug: log, info: log, warn: log, error: log }
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const subject = host([part('a'), part('b', { stop: () => Promise.reject(new Error('x')) })], { logger })
    await subject.start()
    expect((await subject.stop()).outcome).toBe('failed')
    expect(warned).toHaveBeenCalledTimes(1)
    warned.mockRestore()
  })

  it('reports a part that throws by its code, without its text, and stops the others', async () => {
    const { host, logged, part } = bench()
    const subject = host([
      part('pool'),
      part('bad', {
        stop: () => {
          throw Object.assign(new Error('hunter2'), { code: 'EPIPE' })
        },
      }),
    ])
    await subject.start()
    const report = await subject.stop()
    expect(report).toMatchObject({
      outcome: 'failed',
      parts: [
        { name: 'bad', status: 'failed', error: 'EPIPE' },
        { name: 'pool', status: 'stopped' },
      ],
    })
    expect(JSON.stringify([report, logged])).not.toContain('hunter2')
  })

  it('ignores what a late part does afterwards', async () => {
    const { clock, host, part } = bench()
    const subject = host(
      [part('late', { stop: () => sleep(clock, 5000).then(() => Promise.reject(new Error('late'))) })],
      { shutdownBudgetMs: 1000 },
    )
    await subject.start()
    const stopped = subject.stop()
    await clock.advance(10_000)
    expect((await stopped).outcome).toBe('incomplete')
  })

  it.each([
    [{ graceful: true }, 'graceful'],
    [undefined, 'graceful'],
    [{ graceful: false, unresolved: [] }, 'forced'],
    [{ outcome: 'forced', graceful: false }, 'forced'],
    [{ graceful: false, unresolved: [{ messageId: 'a' }] }, 'incomplete'],
    [{ graceful: false, unsettled: 2 }, 'incomplete'],
    [{ outcome: 'incomplete', graceful: false }, 'incomplete'],
    [{ outcome: 'failed', graceful: false }, 'failed'],
  ])('with a part that reports %j is %s', async (report, outcome) => {
    const { host, part } = bench()
    const subject = host([part('a', { stop: () => report })])
    await subject.start()
    expect((await subject.stop()).outcome).toBe(outcome)
  })

  it('gives every caller the one report, also by dispose', async () => {
    const { events, host, part } = bench()
    const subject = host([part('a')])
    await subject.start()
    const [first, second] = await Promise.all([subject.stop(), subject.stop()])
    expect(second).toBe(first)
    await subject[Symbol.asyncDispose]()
    expect(events).toEqual(['start a', 'stop a'])
  })

  it('before a start stops nothing', async () => {
    const { events, host, part } = bench()
    expect(await host([part('a')]).stop()).toMatchObject({ outcome: 'graceful', parts: [] })
    expect(events).toEqual([])
  })
})

describe('options', () => {
  it('are refused with every fault at once', () => {
    const create = (): unknown =>
      createHost({
        parts: [{ name: 'a' }, { name: 'a' }, { name: ' ' }],
        shutdownBudgetMs: -1,
        probeTimeoutMs: Number.NaN,
      })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(/found a twice.*part\.name.*shutdownBudgetMs.*probeTimeoutMs/)
  })
})
