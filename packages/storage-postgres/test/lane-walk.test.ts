import { describe, expect, it } from '@jest/globals'
import { LaneWalk } from '../src/lease/lane-walk.ts'

/** A store that marks what it leases and is asked to mark. */
function arrange() {
  const walk = new LaneWalk()
  const marked = new Set<string>()
  let nowMs = 0
  const lease = (...lanes: readonly string[]): void => {
    const asked = walk.toMark
    for (const lane of lanes) if (asked.includes(lane)) marked.add(lane)
    walk.learn(new Map(lanes.map((lane) => [lane, 4])), { asked, nowMs })
  }
  const wait = (ms: number): void => {
    nowMs += ms
  }
  return { walk, marked, lease, wait }
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
    const { walk, marked, lease } = arrange()
    const all = lanes(1000)
    for (const portion of [13, 250, 13, 250, 13, 250]) {
      for (let from = 0; from < all.length; from += portion) lease(...all.slice(from, from + portion))
      // Walks that meet nothing say nothing about those who are asked for.
      for (let idle = 0; idle < 10; idle++) walk.cameAround()
    }
    expect(marked.size).toBe(1000)
  })

  it.each([200, 1000, 9000])('are not kept from it by %i lanes that came once', (count) => {
    const { walk, marked, lease } = arrange()
    for (let from = 0; from < count; from += 200) lease(...lanes(200, `once-${String(from)}`))
    for (let turn = 0; turn < 200; turn++) {
      lease('hot', 'other')
      walk.cameAround()
    }
    expect([...marked].toSorted()).toEqual(['hot', 'other'])
  })

  it('are asked for again when retention has forgotten their rows', () => {
    const { walk, marked, lease, wait } = arrange()
    for (let turn = 0; turn < 2; turn++) lease('daily')
    expect([...marked]).toEqual(['daily'])
    expect(walk.toMark).toEqual([])
    wait(3_600_000)
    lease('daily')
    expect(walk.toMark).toEqual(['daily'])
  })

  it('are forgotten with the lanes that were not leased for longest', () => {
    const { walk, lease } = arrange()
    lease('old')
    for (let turn = 0; turn < 51; turn++) lease(...lanes(200, `later-${String(turn)}`))
    expect(walk.toMark).not.toContain('old')
  })
})
