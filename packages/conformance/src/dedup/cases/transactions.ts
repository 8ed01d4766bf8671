import { deepStrictEqual, ok, rejects as rejectsAny } from 'node:assert/strict'
import { rejects } from '../../store/support.ts'
import { callersTransactions as needs, type DedupCase } from '../dedup-fixture.ts'
import { claimed, stateOf } from './claims.ts'

const concern = 'transactions'
const short = 100

/** A completion commits with what was done, or not at all. */
export const dedupTransactionCases: readonly DedupCase[] = [
  {
    concern,
    needs,
    title: "complete with the caller's commit, and not with a rollback",
    async run({ store, begin }) {
      const [kept, dropped] = [await claimed(store, 'kept'), await claimed(store, 'dropped')]
      const [first, second] = [await begin(), await begin()]
      deepStrictEqual(await store.complete('kept', kept.generation, first), 'applied')
      deepStrictEqual(await store.complete('dropped', dropped.generation, second), 'applied')
      deepStrictEqual(await stateOf(store, 'kept'), 'inProgress')
      await first.commit()
      await second.rollback()
      deepStrictEqual(await stateOf(store, 'kept'), 'completed')
      deepStrictEqual(await stateOf(store, 'dropped'), 'inProgress')
      deepStrictEqual(await store.complete('dropped', dropped.generation), 'applied')
    },
  },
  {
    concern,
    needs,
    title: 'that complete a key make nobody wait, and keep it although its lease expires',
    async run({ store, another, begin, pass }) {
      const { generation } = await claimed(store, 'a', short)
      const open = await begin()
      await store.complete('a', generation, open)
      await pass(short + 20)
      deepStrictEqual(await stateOf(await another(), 'a'), 'inProgress')
      await open.commit()
      deepStrictEqual(await stateOf(store, 'a'), 'completed')
    },
  },
  {
    concern,
    needs,
    title: 'of the caller that have ended, or never began, are refused and complete nothing',
    async run({ store, withoutTransaction }) {
      const { generation } = await claimed(store, 'a')
      const transaction = await withoutTransaction()
      await rejects(store.complete('a', generation, { transaction }), 'INVALID_OPERATION')
      deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
    },
  },
  {
    concern,
    needs,
    title: 'of the store commit what the work did together with the completion',
    async run({ store }) {
      const [held, other] = [await claimed(store, 'a'), await claimed(store, 'other')]
      const result = await store.completeInTransaction({ key: 'a', ...held }, async (transaction) => {
        await store.complete('other', other.generation, { transaction })
        deepStrictEqual(await stateOf(store, 'other'), 'inProgress')
        deepStrictEqual(await stateOf(store, 'a'), 'inProgress')
      })
      deepStrictEqual(result, 'applied')
      deepStrictEqual([await stateOf(store, 'a'), await stateOf(store, 'other')], ['completed', 'completed'])
    },
  },
  {
    concern,
    needs,
    title: 'of the store take everything back when the work throws, and rethrow what it threw',
    async run({ store }) {
      const [held, other] = [await claimed(store, 'a'), await claimed(store, 'other')]
      const fault = new Error('handler')
      const outcome = store.completeInTransaction({ key: 'a', ...held }, async (transaction) => {
        await store.complete('other', other.generation, { transaction })
        throw fault
      })
      ok(
        await outcome.then(
          () => false,
          (error: unknown) => error === fault,
        ),
      )
      deepStrictEqual(
        [await stateOf(store, 'a'), await stateOf(store, 'other')],
        ['inProgress', 'inProgress'],
      )
    },
  },
  {
    concern,
    needs,
    title: 'of the store take everything back when the claim was lost meanwhile',
    async run({ store, another, pass }) {
      const [held, other] = [await claimed(store, 'a', short), await claimed(store, 'other')]
      const second = await another()
      const result = await store.completeInTransaction({ key: 'a', ...held }, async (transaction) => {
        await store.complete('other', other.generation, { transaction })
        await pass(short + 20)
        await claimed(second, 'a')
      })
      deepStrictEqual(result, 'leaseLost')
      deepStrictEqual(
        [await stateOf(store, 'a'), await stateOf(store, 'other')],
        ['inProgress', 'inProgress'],
      )
    },
  },
  {
    concern,
    needs,
    title: 'of the store take everything back when the work is given up, and wait for it no longer',
    async run({ store }) {
      const [held, other] = [await claimed(store, 'a'), await claimed(store, 'other')]
      const givenUp = new AbortController()
      const { promise: endless } = Promise.withResolvers<undefined>()
      const outcome = store.completeInTransaction(
        { key: 'a', ...held },
        async (transaction) => {
          await store.complete('other', other.generation, { transaction })
          givenUp.abort()
          await endless
        },
        { signal: givenUp.signal },
      )
      await rejectsAny(outcome)
      deepStrictEqual(await store.complete('a', held.generation), 'applied')
      deepStrictEqual(await stateOf(store, 'other'), 'inProgress')
    },
  },
]
