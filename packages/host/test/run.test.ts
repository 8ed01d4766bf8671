import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { sleep } from '@litebus/core'
import { bench, forever } from './arrange.ts'

/** A signal that nothing else in a test run listens to. */
const signal = 'SIGUSR2'

describe('run', () => {
  it('starts, waits for a signal, stops, and leaves no listener behind', async () => {
    const { clock, events, host, part } = bench()
    const before = process.listenerCount(signal)
    const running = host([part('a')]).run([signal])
    await clock.advance(1)
    expect(events).toEqual(['start a'])
    process.emit(signal, signal)
    expect((await running).outcome).toBe('graceful')
    expect(events).toEqual(['start a', 'stop a'])
    expect(process.listenerCount(signal)).toBe(before)
  })

  it('takes a second signal for nothing new: the deadline stands', async () => {
    const { clock, events, host, part } = bench()
    const running = host([part('a', { stop: () => sleep(clock, 500) })]).run([signal])
    await clock.advance(1)
    process.emit(signal, signal)
    await clock.advance(100)
    process.emit(signal, signal)
    await clock.advance(400)
    expect(await running).toMatchObject({ outcome: 'graceful', elapsedMs: 500 })
    expect(events).toEqual(['start a', 'stop a'])
  })

  it('ends by a signal also while a part does not finish starting', async () => {
    const { clock, events, host, part } = bench()
    const running = host([part('a', { start: forever }), part('b')]).run([signal])
    await clock.advance(1)
    process.emit(signal, signal)
    expect((await running).outcome).toBe('graceful')
    expect(events).toEqual(['start a', 'stop a'])
  })

  it('throws what a part throws at its start, and leaves no listener behind', async () => {
    const { host, part } = bench()
    const before = process.listenerCount(signal)
    const subject = host([part('a', { start: () => Promise.reject(new Error('no')) })])
    await expect(subject.run([signal])).rejects.toThrow('no')
    expect(process.listenerCount(signal)).toBe(before)
  })

  it.each([
    ['cleanly', 0, 'started\nstopped\ngraceful\n'],
    ['left open', 0, 'started\nstopped\ngraceful\nended with a timer\n'],
    ['stuck', 1, 'started\nincomplete\nended with a timer\n'],
  ])('ends a real process on SIGTERM whose part stops like this: %s', async (how, exitCode, lines) => {
    const program = fileURLToPath(new URL('run-program.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=@litebus/source', program, how])
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output === 'started\n') child.kill('SIGTERM')
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    expect([code, output]).toEqual([exitCode, lines])
  })
})
