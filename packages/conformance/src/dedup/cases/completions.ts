import { deepStrictEqual } from 'node:assert/strict'
import type { DedupCase } from '../dedup-fixture.ts'
import { claimed, stateOf } from './claims.ts'

const concern = 'completions'
const short = 100

/** Only the holder of the latest claim is heard, and what is completed stays so. */
export const dedupCompletionCases: readonly DedupCase[] = [
  {
    concern,
    title: 'last, whatever the lease was, for everybody',
    async run({ store, another, pass }) {
      const { generation } = await claimed(store, 'a', short)
      deepStrictEqual(await store.complete('a', generation), 'applied')
      await pass(short + 20)
      deepStrictEqual(await stateOf(store, 'a'), 'completed')
      deepStrictEqual(await stateOf(await another(), 'a'), 'completed')
    },
  },
  {
    concern,
    title: 'can be told twice, and cannot be given back',
    async run({ store }) {
      const { generation } = await claimed(store, 'a')
      deepStrictEqual(await store.complete('a', generation), 'applied')
      deepStrictEqual(await store.complete('a', generation), 'applied')
      await store.release('a', generation)
      deepStrictEqual(await stateOf(store, 'a'), 'completed')
    },
  },
  {
    concern,
    title: 'of a claim that another one has taken over are refused, and change nothing',
    async run({ store, another, pass }) {
      const other = await another()
      const first = await claimed(store, 'a', short)
      await pass(short + 20)
      const second = await claimed(other, 'a')
      deepStrictEqual(await store.complete('a', first.generation), 'leaseLost')
      deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
      deepStrictEqual(await other.complete('a', second.generation), 'applied')
      deepStrictEqual(await store.complete('a', first.generation), 'leaseLost')
    },
  },
  {
    concern,
    title: 'of a claim that was given back are refused',
    async run({ store }) {
      const { generation } = await claimed(store, 'a')
      await store.release('a', generation)
      deepStrictEqual(await store.complete('a', generation), 'leaseLost')
      await claimed(store, 'a')
    },
  },
  {
    concern,
    title: 'stand when the lease has expired and nobody else has claimed the key',
    async run({ store, pass }) {
      const { generation } = await claimed(store, 'a', short)
      await pass(short + 20)
      deepStrictEqual(await store.complete('a', generation), 'applied')
      deepStrictEqual(await stateOf(store, 'a'), 'completed')
    },
  },
]
