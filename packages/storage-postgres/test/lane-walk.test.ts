import { describe, expect, it } from '@jest/globals'
import { LaneWalk } from '../src/lease/lane-walk.ts'

/** A store that marks what it leases and is asked to mark. */
function arrange() {
  const walk = new LaneWalk()
  const marked = new Set<string>()
  const lease = (...lanes: readonly string[]): void => {
    const asked = walk.toMark
    for (const lane of lanes) if (asked.includes(lane)) marked.add(lane)
    walk.learn(new Map(lanes.map((lane) => [lane, 4])), asked)
  }
  return { walk, marked, lease }
}

const lanes = (count: number, prefix = 'lane'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`)

describe('the lanes that a lease is asked to mark', () => {
  it('are those that were leased once, with their next lease', () => {
    const { walk, marked, lease } = arrange()
    expect(walk.toMark).toEqual([])
    lease('a', 'b')
    expect(walk.toMark).toEqual(['a', 'b'])
    lease('a')
    expect([...marked]).toEqual(['a'])
    expect(walk.toMark).toEqual(['b'])
    lease('a')
    expect(walk.toMark).toEqual(['b'])
  })

  it('leave out none of a thousand that come in turn, in whatever portions', () => {
    const { marked, lease } = arrange()
    const all = lanes(1000)
    for (const portion of [13, 250, 13, 250, 13, 250])
      for (let from = 0; from < all.length; from += portion) lease(...all.slice(from, from + portion))
    expect(marked.size).toBe(1000)
  })

  it('are not kept from it for ever by lanes that come once', () => {
    const { marked, lease } = arrange()
    for (let turn = 0; turn < 60; turn++) lease(...lanes(200, `once-${String(turn)}`), 'hot')
    expect([...marked]).toEqual(['hot'])
  })

  it('are forgotten with the lanes that were not leased for longest', () => {
    const { walk, lease } = arrange()
    lease('old')
    for (let turn = 0; turn < 51; turn++) lease(...lanes(200, `later-${String(turn)}`))
    expect(walk.toMark).not.toContain('old')
  })
})
