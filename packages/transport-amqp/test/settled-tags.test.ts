import { describe, expect, it } from '@jest/globals'
import { createSettledTags } from '../src/settled-tags.ts'

const acks = (...tags: number[]): ReadonlyMap<number, number> => new Map(tags.map((tag) => [tag, tag]))

describe('acknowledgements of one channel', () => {
  it('are one frame when nothing unsettled is before or among them, in whatever order they come', () => {
    const settled = createSettledTags()
    expect(settled.acknowledge(acks(1, 2, 3))).toEqual({ upTo: 3, alone: [] })
    expect(settled.acknowledge(acks(6, 4, 5))).toEqual({ upTo: 6, alone: [] })
  })

  it('never cover a delivery that is not settled', () => {
    const settled = createSettledTags()
    expect(settled.acknowledge(acks(1, 3, 4))).toEqual({ upTo: 1, alone: [3, 4] })
    expect(settled.acknowledge(acks(6))).toEqual({ upTo: undefined, alone: [6] })
    expect(settled.acknowledge(acks(2))).toEqual({ upTo: 2, alone: [] })
    expect(settled.acknowledge(acks(5, 7))).toEqual({ upTo: 7, alone: [] })
  })

  it('go on over what was given back', () => {
    const settled = createSettledTags()
    settled.add(2)
    expect(settled.acknowledge(acks(1))).toEqual({ upTo: 1, alone: [] })
    settled.add(4)
    expect(settled.acknowledge(acks(3, 5))).toEqual({ upTo: 5, alone: [] })
  })

  it.each([1, 2, 3, 4, 5])('cover each delivery once, for any order and any groups (seed %p)', (seed) => {
    let state = seed
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    const settled = createSettledTags()
    const open = new Set(Array.from({ length: 200 }, (_, index) => index + 1))
    while (open.size > 0) {
      const some = [...open].filter(() => random(3) === 0).slice(0, 1 + random(20))
      if (random(4) === 0)
        for (const tag of some.splice(0, 1)) {
          settled.add(tag)
          open.delete(tag)
        }
      if (some.length === 0) continue
      const { upTo = 0, alone } = settled.acknowledge(acks(...some))
      const covered = [...open].filter((tag) => tag <= upTo || alone.includes(tag))
      expect(covered).toEqual(some.toSorted((a, b) => a - b))
      for (const tag of some) open.delete(tag)
    }
  })
})
