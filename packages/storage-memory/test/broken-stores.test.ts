import { describe, expect, it } from '@jest/globals'
import { storeConformance, type BoundCase } from '@litebus/conformance'
import { appendFaults } from './broken/append-faults.ts'
import { damaged, type BrokenStore } from './broken/broken-store.ts'
import { isFound } from './broken/is-found.ts'
import { laneFaults } from './broken/lane-faults.ts'
import { leaseFaults } from './broken/lease-faults.ts'
import { otherFaults } from './broken/other-faults.ts'
import { memoryBinding } from './memory-fixture.ts'

const faults = [...appendFaults, ...leaseFaults, ...laneFaults, ...otherFaults]

function casesOf(broken: BrokenStore): readonly BoundCase[] {
  const { cases } = storeConformance(
    { ...memoryBinding, open: async (scope) => damaged(await memoryBinding.open(scope), broken) },
    { checkerMs: 1000 },
  )
  return cases
}

describe('a store with one fault', () => {
  it.each(faults.flatMap((broken) => broken.foundBy.map((title) => ({ fault: broken.name, title, broken }))))(
    'that $fault fails: $title',
    async ({ title, broken }) => {
      const entry = casesOf(broken).find((candidate) => candidate.title === title)
      expect(entry?.title).toBe(title)
      expect(entry !== undefined && (await isFound(entry))).toBe(true)
    },
    30_000,
  )
})

describe('the store suite', () => {
  it('has no case that cannot fail', () => {
    const titles = storeConformance(memoryBinding).cases.map((entry) => entry.title)
    const found = new Set(faults.flatMap((broken) => broken.foundBy))
    expect(titles.filter((title) => !found.has(title))).toEqual([])
  })

  it('lists what the memory store cannot be asked', () => {
    const { ruledOut } = storeConformance(memoryBinding)
    expect(new Set(ruledOut.map((entry) => entry.capability))).toEqual(new Set(['separateClock']))
  })
})
