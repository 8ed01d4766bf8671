import { describe, expect, it } from '@jest/globals'
import { createDemand } from '../src/demand.ts'

describe('the demand for another batch', () => {
  it.each([
    ['nothing is held', [0, 0, 0], true],
    ['one round of workers waits', [8, 8, 16], true],
    ['more wait than slow handlers take in a while', [9, 8, 17], false],
    ['everything that ended is yet to be settled', [0, 0, 299], true],
    ['three batches that ended are yet to be settled', [0, 0, 300], false],
  ] as const)('where %s', (_name, [waiting, running, held], expected) => {
    expect(createDemand({ concurrency: 8, batchSize: 100 }).hasRoom(waiting, running, held)).toBe(expected)
  })

  it('keeps as many rows as there are workers running, and one batch waiting', () => {
    const demand = createDemand({ concurrency: 1000, batchSize: 100 })
    expect(demand.hasRoom(0, 1000, 1000)).toBe(true)
    expect(demand.hasRoom(1, 1000, 1001)).toBe(false)
  })

  it('lets as many wait as fast handlers take in the time of a lease, at most a batch', () => {
    const demand = createDemand({ concurrency: 8, batchSize: 100 })
    demand.observe(100, 40)
    expect([demand.hasRoom(50, 8, 58), demand.hasRoom(51, 8, 59)]).toEqual([true, false])
    for (let pass = 0; pass < 20; pass += 1) demand.observe(100, 1)
    expect([demand.hasRoom(100, 8, 108), demand.hasRoom(101, 8, 109)]).toEqual([true, false])
  })
})
