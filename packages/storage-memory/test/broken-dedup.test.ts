import { describe, expect, it } from '@jest/globals'
import { dedupConformance, type BoundCase } from '@litebus/conformance'
import { damagedDedup, dedupFaults, type BrokenDedup } from './broken/dedup-faults.ts'
import { isFound } from './broken/is-found.ts'
import { memoryDedupBinding } from './memory-fixture.ts'

function casesOf(broken: BrokenDedup): readonly BoundCase[] {
  const open: typeof memoryDedupBinding.open = async (scope) =>
    damagedDedup(await memoryDedupBinding.open(scope), broken)
  return dedupConformance({ ...memoryDedupBinding, open }).cases
}

describe('a dedup store with one fault', () => {
  it.each(
    dedupFaults.flatMap((broken) => broken.foundBy.map((title) => ({ fault: broken.name, title, broken }))),
  )(
    'that $fault fails: $title',
    async ({ title, broken }) => {
      const entry = casesOf(broken).find((candidate) => candidate.title === title)
      expect(entry?.title).toBe(title)
      expect(entry !== undefined && (await isFound(entry))).toBe(true)
    },
    30_000,
  )
})

describe('the dedup suite', () => {
  it('has no case that cannot fail', () => {
    const titles = dedupConformance(memoryDedupBinding).cases.map((entry) => entry.title)
    const found = new Set(dedupFaults.flatMap((broken) => broken.foundBy))
    expect(titles.filter((title) => !found.has(title))).toEqual([])
  })

  it('lists what the memory store cannot be asked', () => {
    const { ruledOut } = dedupConformance(memoryDedupBinding)
    expect(new Set(ruledOut.map((entry) => entry.capability))).toEqual(new Set(['separateClock']))
  })
})
