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

/** A listener that was started on what `open` makes. */
async function arrange(open: () => ListenerClient) {
  const { clock, timers } = stoppedClock()
  const onWork = (): void => undefined
  const listener = new Listener({ open, channel: 'work', clock, logger: silentLogger, onWork })
  listener.start()
  await new Promise(setImmediate)
  return { listener, timers }
}

describe('the listener of the work signal', () => {
  it.each<{ readonly name: string; readonly client: Pick<ListenerClient, 'connect' | 'end'> }>([
    {
      name: 'connects, which pg then never answers',
      client: { connect: never, end: () => Promise.resolve() },
    },
    {
      name: 'waits for its first answer',
      client: { connect: () => Promise.resolve(), end: () => Promise.resolve() },
    },
    { name: 'connects to what never ends', client: { connect: never, end: never } },
    {
      name: 'connects, and its end fails',
      client: { connect: never, end: () => Promise.reject(new Error('refused')) },
    },
  ])('leaves nothing behind when it is closed while it $name', async ({ client }) => {
    let ended = 0
    const { listener, timers } = await arrange(() => ({
      ...client,
      query: never,
      on: () => undefined,
      end() {
        ended += 1
        return client.end()
      },
    }))
    const rejected: unknown[] = []
    const hear = (reason: unknown): void => {
      rejected.push(reason)
    }
    process.on('unhandledRejection', hear)
    try {
      expect(timers.size).toBe(1)
      await listener.close()
      await new Promise(setImmediate)
      expect([timers.size, ended, listener.isListening, rejected]).toEqual([0, 1, false, []])
    } finally {
      process.off('unhandledRejection', hear)
    }
  })

  it('is degraded, and tries again, while no client can be made', async () => {
    let opened = 0
    const { listener, timers } = await arrange(() => {
      opened += 1
      throw new TypeError('Invalid URL')
    })
    expect([opened, listener.isDegraded, timers.size]).toEqual([1, true, 1])
    for (const ring of [...timers]) ring()
    await new Promise(setImmediate)
    expect(opened).toBe(2)
    await listener.close()
  })
})
