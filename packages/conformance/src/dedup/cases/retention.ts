import { deepStrictEqual } from 'node:assert/strict'
import { rejects } from '../../store/support.ts'
import type { DedupCase } from '../dedup-fixture.ts'
import { claimed, stateOf } from './claims.ts'

const concern = 'retention'
const short = 100

/** Keys are forgotten when they are old enough, and never while they are held. */
export const dedupRetentionCases: readonly DedupCase[] = [
  {
    concern,
    title: 'forgets what was completed long enough ago, and nothing younger',
    async run({ store, pass }) {
      await store.complete('old', (await claimed(store, 'old')).generation)
      await pass(500)
      await store.complete('young', (await claimed(store, 'young')).generation)
      deepStrictEqual(await store.runRetention(), 0)
      deepStrictEqual(await store.runRetention({ dedupRetentionMs: 400 }), 1)
      deepStrictEqual(await stateOf(store, 'young'), 'completed')
      await claimed(store, 'old')
    },
  },
  {
    concern,
    title: 'forgets claims that nobody has taken up, and none that is held',
    async run({ store, pass }) {
      const held = await claimed(store, 'held')
      await claimed(store, 'abandoned', short)
      await pass(short + 20)
      deepStrictEqual(await store.runRetention({ dedupRetentionMs: 0 }), 1)
      deepStrictEqual(await stateOf(store, 'held'), 'inProgress')
      deepStrictEqual(await store.complete('held', held.generation), 'applied')
    },
  },
  {
    concern,
    title: 'forgets at most as many as it is asked to, and refuses what makes no sense',
    async run({ store, pass }) {
      for (const key of ['a', 'b', 'c']) await store.complete(key, (await claimed(store, key)).generation)
      await pass(20)
      deepStrictEqual(await store.runRetention({ dedupRetentionMs: 0, limit: 2 }), 2)
      deepStrictEqual(await store.runRetention({ dedupRetentionMs: 0, limit: 2 }), 1)
      await rejects(store.runRetention({ dedupRetentionMs: -1 }), 'ARGUMENT_INVALID')
    },
  },
]
