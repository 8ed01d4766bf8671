import { describe, expect, it } from '@jest/globals'
import { silentLogger, type Clock } from '@litebus/core'
import { Listener, type ListenerClient } from '../src/signal/listener.ts'

const never = (): Promise<never> => Promise.withResolvers<never>().promise

/** A clock whose timers never ring. */
function stoppedClock() {
  const timers = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    schedule(_delayMs, ring) {
      timers.add(ring)
      return { cancel: () => timers.delete(ring) }
    },
  }
  return { clock, timers }
}

describe('the listener of the work signal', () => {
  it.each<{ readonly name: string; readonly connect: () => Promise<unknown> }>([
    { name: 'connects, which pg then never answers', connect: never },
    { name: 'waits for its first answer', connect: () => Promise.resolve() },
  ])('leaves no timer behind when it is closed while it $name', async ({ connect }) => {
    const { clock, timers } = stoppedClock()
    let ended = 0
    const client: ListenerClient = {
      connect,
      query: never,
      end: () => {
        ended += 1
        return Promise.resolve()
      },
      on: () => undefined,
    }
    const listener = new Listener({
      open: () => client,
      channel: 'work',
      clock,
      logger: silentLogger,
      onWork: () => undefined,
    })
    listener.start()
    await new Promise(setImmediate)
    expect(timers.size).toBe(1)
    await listener.close()
    await new Promise(setImmediate)
    expect(timers.size).toBe(0)
    expect(ended).toBe(1)
    expect(listener.isListening).toBe(false)
  })

  it('does not wait for the end of a client that never connected', async () => {
    const { clock, timers } = stoppedClock()
    const client: ListenerClient = { connect: never, query: never, end: never, on: () => undefined }
    const listener = new Listener({
      open: () => client,
      channel: 'work',
      clock,
      logger: silentLogger,
      onWork: () => undefined,
    })
    listener.start()
    await listener.close()
    await new Promise(setImmediate)
    expect(timers.size).toBe(0)
  })

  it('is degraded, and tries again, while no client can be made', async () => {
    const { clock, timers } = stoppedClock()
    let opened = 0
    const listener = new Listener({
      open: () => {
        opened += 1
        throw new TypeError('Invalid URL')
      },
      channel: 'work',
      clock,
      logger: silentLogger,
      onWork: () => undefined,
    })
    listener.start()
    await new Promise(setImmediate)
    expect([opened, listener.isDegraded, timers.size]).toEqual([1, true, 1])
    for (const ring of [...timers]) ring()
    await new Promise(setImmediate)
    expect(opened).toBe(2)
    await listener.close()
  })
})
