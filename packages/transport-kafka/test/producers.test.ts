import { describe, expect, it } from '@jest/globals'
import type { KafkaDriverProducer } from '../src/driver.ts'
import { createProducers, ProducerUnavailable } from '../src/producers.ts'

function arrange({ failOpening = 0 } = {}) {
  const opened: { closed: boolean }[] = []
  let failures = failOpening
  const producers = createProducers({
    openProducer() {
      if (failures-- > 0) return Promise.reject(new Error('refused'))
      const state = { closed: false }
      opened.push(state)
      const producer: KafkaDriverProducer = {
        write: () => Promise.resolve(),
        close() {
          state.closed = true
          return Promise.resolve()
        },
      }
      return Promise.resolve(producer)
    },
  })
  return { opened, producers }
}

let place = 0
/** Places that nobody else writes to, unless they are named. */
const places = (...names: readonly string[]): ReadonlySet<string> =>
  new Set(names.length === 0 ? [String((place += 1))] : names)

const nothing = (): Promise<void> => Promise.resolve()
const failing = (): Promise<void> => Promise.reject(new Error('lost'))

describe('the producer in use', () => {
  it('is the same while its writes succeed', async () => {
    const { opened, producers } = arrange()
    await Promise.all([producers.write(places(), nothing), producers.write(places(), nothing)])
    await producers.write(places(), nothing)
    expect(opened).toEqual([{ closed: false }])
  })

  it('is given up after a failed write, so that no later write goes out under its id', async () => {
    const { opened, producers } = arrange()
    await expect(producers.write(places(), failing)).rejects.toThrow('lost')
    await producers.write(places(), nothing)
    expect(opened).toEqual([{ closed: true }, { closed: false }])
  })

  it('writes to no partition to which another write of its own is open: a fresh one does', async () => {
    const { opened, producers } = arrange()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const used: KafkaDriverProducer[] = []
    const write = (...names: readonly string[]): Promise<void> =>
      producers.write(places(...names), async (producer) => {
        used.push(producer)
        await promise
      })
    const writes = [write('a', 'b'), write('c'), write('b', 'd'), write('e')]
    await new Promise(setImmediate)
    const [first, second, third, fourth] = used
    expect([first === second, second === third, third === fourth]).toEqual([true, false, true])
    expect(opened.map(({ closed }) => closed)).toEqual([false, false])
    resolve(undefined)
    await Promise.all(writes)
    await producers.close()
    expect(opened.map(({ closed }) => closed)).toEqual([true, true])
  })

  it('is closed only when those that still write have ended', async () => {
    const { opened, producers } = arrange()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const slow = producers.write(places(), async () => {
      await promise
    })
    await expect(producers.write(places(), failing)).rejects.toThrow('lost')
    expect(opened[0]?.closed).toBe(false)
    resolve(undefined)
    await slow
    await producers.close()
    expect(opened[0]?.closed).toBe(true)
  })

  it('is asked for again by the next write when it could not be opened', async () => {
    const { opened, producers } = arrange({ failOpening: 1 })
    await expect(producers.write(places(), nothing)).rejects.toThrow(ProducerUnavailable)
    await producers.write(places(), nothing)
    expect(opened).toHaveLength(1)
  })
})
