import { describe, expect, it } from '@jest/globals'
import type { BoundSuite } from '@litebus/conformance'
import { isFound } from './is-found.ts'

/** Something with one fault, and the cases that find it. */
interface Broken {
  readonly name: string
  readonly foundBy: readonly string[]
}

/** A suite with what is broken on purpose, to show that each of its cases can fail. */
export interface FaultySuite<B extends Broken> {
  /** What the suite is for. */
  readonly subject: string
  readonly faults: readonly B[]
  /** The suite on something sound. */
  readonly sound: BoundSuite
  /** The suite on something with a fault. */
  readonly broken: (fault: B) => BoundSuite
}

/** Tests that every fault is found by the cases that are named for it, and that no case cannot fail. */
export function describeFaults<B extends Broken>({ subject, faults, sound, broken }: FaultySuite<B>): void {
  describe(`a ${subject} with one fault`, () => {
    it.each(faults.flatMap((fault) => fault.foundBy.map((title) => ({ name: fault.name, title, fault }))))(
      'that $name fails: $title',
      async ({ title, fault }) => {
        const entry = broken(fault).cases.find((candidate) => candidate.title === title)
        expect(entry?.title).toBe(title)
        expect(entry !== undefined && (await isFound(entry))).toBe(true)
      },
      30_000,
    )
  })

  describe(`the ${subject} suite`, () => {
    it('has no case that cannot fail', () => {
      const found = new Set(faults.flatMap(({ foundBy }) => foundBy))
      expect(sound.cases.map(({ title }) => title).filter((title) => !found.has(title))).toEqual([])
    })

    it('lists what the memory store cannot be asked', () => {
      expect(new Set(sound.ruledOut.map(({ capability }) => capability))).toEqual(new Set(['separateClock']))
    })
  })
}
