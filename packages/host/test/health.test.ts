import { describe, expect, it } from '@jest/globals'
import { StoreUnavailableError } from '@litebus/core'
import { bench, forever } from './arrange.ts'

describe('health', () => {
  it('is up while every part with a probe can work; parts without one do not count', async () => {
    const { host, part } = bench()
    const subject = host([part('pool', { probe: () => Promise.resolve() }), part('plain')])
    expect(await subject.health()).toEqual({ status: 'up', parts: [{ name: 'pool', status: 'up' }] })
  })

  it('is down with the code of what a probe threw, never its text', async () => {
    const { host, part } = bench()
    const subject = host([
      part('pool', { probe: () => Promise.reject(new StoreUnavailableError('password=hunter2')) }),
      part('broker', {
        probe: () => {
          throw new TypeError('hunter2')
        },
      }),
      part('fine', { probe: () => undefined }),
    ])
    const health = await subject.health()
    expect(health).toEqual({
      status: 'down',
      parts: [
        { name: 'pool', status: 'down', error: 'STORE_UNAVAILABLE' },
        { name: 'broker', status: 'down', error: 'TypeError' },
        { name: 'fine', status: 'up' },
      ],
    })
  })

  it('does not wait for a probe longer than it may, and asks all of them at once', async () => {
    const { clock, host, part } = bench()
    const subject = host([part('a', { probe: forever }), part('b', { probe: forever })], {
      probeTimeoutMs: 500,
    })
    const health = subject.health()
    await clock.advance(500)
    expect(await health).toEqual({
      status: 'down',
      parts: [
        { name: 'a', status: 'down', error: 'TIMEOUT' },
        { name: 'b', status: 'down', error: 'TIMEOUT' },
      ],
    })
  })
})
