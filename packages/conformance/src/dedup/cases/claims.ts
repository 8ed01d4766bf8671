import { deepStrictEqual, notStrictEqual, ok } from 'node:assert/strict'
import type { DedupClaim, DedupStore } from '@litebus/core'
import { rejects } from '../../store/support.ts'
import type { StoreCapabilities } from '../../store/store-fixture.ts'
import type { DedupCase, DedupFixture } from '../dedup-fixture.ts'

const concern = 'claims'
const long = 60_000
const short = 100
const tenYears = 10 * 365 * 86_400_000

/** Claims a key that must be free. */
export async function claimed(store: DedupStore, key: string, leaseMs: number = long): Promise<DedupClaim> {
  const claim = await store.claim(key, leaseMs)
  deepStrictEqual(claim.state, 'claimed')
  return claim
}

/** What a claim of a key finds now. */
export async function stateOf(store: DedupStore, key: string): Promise<DedupClaim['state']> {
  return (await store.claim(key, long)).state
}

/** One at a time holds a key. */
export const claimCases: readonly DedupCase[] = [
  {
    concern,
    title: 'gives a free key to one, and tells every other one that it is in progress',
    async run({ store, another }) {
      await claimed(store, 'a')
      deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
      deepStrictEqual(await stateOf(await another(), 'a'), 'inProgress')
    },
  },
  {
    concern,
    title: 'keeps keys apart, to the last character',
    async run({ store }) {
      for (const key of ['a', 'A', 'a ', 'ä', 'ab', '"', "'", 'x'.repeat(512)]) await claimed(store, key)
    },
  },
  {
    concern,
    title: 'gives a key to exactly one of many that race for it',
    async run({ store, another }) {
      const other = await another()
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const racing = Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? store : other).claim(key, long))
        const states = (await Promise.all(racing)).map(({ state }) => state)
        deepStrictEqual(states.filter((state) => state === 'claimed').length, 1)
        deepStrictEqual(states.filter((state) => state === 'inProgress').length, 15)
      }
    },
  },
  {
    concern,
    title: 'gives an expired key to exactly one of many that race for it, under a new generation',
    async run({ store, another, pass }) {
      const other = await another()
      const first = await claimed(store, 'a', short)
      deepStrictEqual(await stateOf(other, 'a'), 'inProgress')
      await pass(short + 20)
      const racing = Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? store : other).claim('a', long))
      const claims = (await Promise.all(racing)).filter(({ state }) => state === 'claimed')
      deepStrictEqual(claims.length, 1)
      notStrictEqual(claims[0]?.generation, first.generation)
    },
  },
  {
    concern,
    title: 'frees a key at once that is given back, under a new generation',
    async run({ store, another }) {
      const first = await claimed(store, 'a')
      await store.release('a', first.generation)
      const second = await claimed(await another(), 'a')
      notStrictEqual(second.generation, first.generation)
    },
  },
  {
    concern,
    title: 'leaves a key alone that another one has claimed meanwhile',
    async run({ store, another, pass }) {
      const first = await claimed(store, 'a', short)
      await pass(short + 20)
      await claimed(await another(), 'a')
      await store.release('a', first.generation)
      deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
    },
  },
  {
    concern,
    title: 'refuses keys and leases that make no sense',
    async run({ store }) {
      for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(513)]) {
        await rejects(store.claim(key, long), 'ARGUMENT_INVALID')
      }
      for (const leaseMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        await rejects(store.claim('a', leaseMs), 'ARGUMENT_INVALID')
      }
      await claimed(store, 'a')
    },
  },
  ...[-tenYears, tenYears].map((offset): DedupCase => ({
    concern,
    title: `last as long when the caller's clock is ten years ${offset < 0 ? 'behind' : 'ahead'}`,
    needs: {
      capability: 'separateClock',
      met: (capabilities: StoreCapabilities) => capabilities.separateClock,
    },
    async run({ store, skewed, pass }: DedupFixture) {
      const other = await skewed?.(offset)
      ok(other)
      await claimed(other, 'a', 1000)
      deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
      await claimed(store, 'b', 1000)
      deepStrictEqual(await stateOf(other, 'b'), 'inProgress')
      await pass(1050)
      await claimed(store, 'a')
      await claimed(other, 'b')
    },
  })),
]
