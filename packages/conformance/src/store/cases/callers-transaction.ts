import { deepStrictEqual, ok } from 'node:assert/strict'
import { DuplicateInFlightError, uuidV5, uuidV7, type NewMessage } from '@litebus/core'
import type { CallersTransaction, StoreFixture } from '../store-fixture.ts'
import {
  aMessage,
  at,
  idsOf,
  leaseAll,
  messages,
  only,
  rejects,
  staysPending,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = "caller's transaction"
const needs = {
  capability: 'callersTransactions',
  met: (capabilities: { readonly callersTransactions: boolean }): boolean => capabilities.callersTransactions,
}

/** A write is part of what the caller does, and never spoils it. */
export const callersTransactionCases: readonly StoreCase[] = [
  {
    concern,
    needs,
    title: 'shows nothing before the commit, everything after it, and nothing after a rollback',
    async run(fixture) {
      const { outbox } = fixture
      const [first, second] = [await fixture.begin(), await fixture.begin()]
      const [kept, fresh] = [aMessage(), aMessage({ idIsNew: true })]
      await outbox.append([kept], first)
      await outbox.append([fresh], first)
      await outbox.append([aMessage({ idIsNew: true })], second)
      deepStrictEqual(await leaseAll(outbox), [])
      await first.commit()
      await second.rollback()
      deepStrictEqual(idsOf(await leaseAll(outbox)), [kept.id, fresh.id])
    },
  },
  {
    concern,
    needs,
    title: 'refuses a handle without an open transaction, and writes nothing',
    async run(fixture) {
      const { outbox } = fixture
      const transaction = await fixture.withoutTransaction()
      await rejects(outbox.append([aMessage()], { transaction }), 'INVALID_OPERATION')
      deepStrictEqual(await leaseAll(outbox), [])
    },
  },
  {
    concern,
    needs,
    title: 'stays usable after a duplicate that was found',
    async run(fixture) {
      const { outbox } = fixture
      const known = aMessage({ idempotency: { key: 'k' } })
      await outbox.append([known])
      await usableAfter(fixture, async (transaction) => {
        const again = aMessage({ idempotency: { key: 'k' } })
        deepStrictEqual(only(await outbox.append([again], transaction)).receipt.id, known.id)
        deepStrictEqual(only(await outbox.append([known], transaction)).status, 'existing')
      })
    },
  },
  {
    concern,
    needs,
    title: 'stays usable after a strict conflict, which writes nothing of its batch',
    async run(fixture) {
      const { outbox } = fixture
      await outbox.append([aMessage({ idempotency: { key: 'k' } })])
      await outbox.settle(succeeded(await leaseAll(outbox)))
      await usableAfter(fixture, async (transaction) => {
        const strict = aMessage({ idempotency: { key: 'k', mode: 'strict' } })
        await rejects(outbox.append([...messages(2), strict], transaction), 'IDEMPOTENCY_CONFLICT')
      })
    },
  },
  {
    concern,
    needs,
    title: 'stays usable after a refused value',
    async run(fixture) {
      await usableAfter(fixture, async (transaction) => {
        await rejects(
          fixture.outbox.append([aMessage(), aMessage({ tenantId: '\0' })], transaction),
          'INBOX_STORAGE_REFUSED',
        )
      })
    },
  },
  {
    concern,
    needs,
    title: 'tells that another open transaction is writing the key, and stays usable',
    async run(fixture) {
      const { outbox } = fixture
      const first = await fixture.begin()
      await outbox.append([aMessage({ idempotency: { key: 'k' } })], first)
      await usableAfter(fixture, async (transaction) => {
        const slot = aMessage({ idempotency: { key: 'k' } })
        const error = await rejects(outbox.append([aMessage(), slot], transaction), 'DUPLICATE_IN_FLIGHT')
        ok(error instanceof DuplicateInFlightError)
        deepStrictEqual(error.slots, [{ index: 1, id: slot.id, on: 'key' }])
      })
      await rejects(outbox.append([aMessage({ idempotency: { key: 'k' } })]), 'DUPLICATE_IN_FLIGHT')
      await first.rollback()
      const after = aMessage({ idempotency: { key: 'k' } })
      deepStrictEqual(only(await outbox.append([after])).status, 'inserted')
    },
  },
  {
    concern,
    needs,
    title: 'tells that another open transaction is writing the derived id',
    async run(fixture) {
      const { outbox } = fixture
      const message = aMessage({ id: uuidV5(uuidV7(), 'send') })
      const first = await fixture.begin()
      await outbox.append([message], first)
      await rejects(outbox.append([message]), 'DUPLICATE_IN_FLIGHT')
      await first.commit()
      deepStrictEqual(only(await outbox.append([message])).status, 'existing')
    },
  },
  {
    concern,
    needs,
    title: 'sees what it has written itself',
    async run(fixture) {
      const { outbox } = fixture
      const transaction = await fixture.begin()
      const message = aMessage({ idempotency: { key: 'k' } })
      await outbox.append([message], transaction)
      deepStrictEqual(only(await outbox.append([message], transaction)).status, 'existing')
      await transaction.commit()
      only(await leaseAll(outbox))
    },
  },
  {
    concern: 'ordering',
    needs,
    title: 'does not skip what commits late',
    async run(fixture) {
      const { outbox } = fixture
      const late = await fixture.begin()
      const unkeyed = aMessage()
      await outbox.append([unkeyed, aMessage({ orderingKey: 'k' })], late)
      for (let round = 0; round < 5; round += 1) {
        await outbox.append([...messages(20), ...messages(5, () => ({ orderingKey: 'k' }))])
        await outbox.settle(succeeded(await leaseAll(outbox)))
      }
      await late.commit()
      const found = await leaseAll(outbox)
      deepStrictEqual(found.length, 2)
      ok(idsOf(found).includes(unkeyed.id))
    },
  },
  {
    concern: 'ordering',
    needs,
    title: 'leaves a key to its run in flight when more than a run commits late before it',
    async run(fixture) {
      const { outbox } = fixture
      const keyed = (count: number): NewMessage[] => messages(count, () => ({ orderingKey: 'k' }))
      const run = (): ReturnType<typeof leaseAll> => leaseAll(outbox, { maxPerKey: 2 })
      // Its second run makes a key one that a store may keep a position of.
      for (let runs = 0; runs < 3; runs += 1) {
        await outbox.append(keyed(2))
        await outbox.settle(succeeded(await run()))
      }
      const late = await fixture.begin()
      const before = keyed(4)
      await outbox.append(before, late)
      await outbox.append(keyed(2))
      const inFlight = await run()
      deepStrictEqual(inFlight.length, 2)
      await late.commit()
      deepStrictEqual(await run(), [])
      await outbox.settle(succeeded(inFlight))
      deepStrictEqual(
        idsOf(await run()),
        before.slice(0, 2).map(({ id }) => id),
      )
    },
  },
  {
    concern: 'ordering',
    needs,
    title: 'keeps happens-before within a key while its producers do not wait for each other',
    async run(fixture) {
      const { outbox } = fixture
      const [open, quick] = [await fixture.begin(), await fixture.begin()]
      const slow = aMessage({ orderingKey: 'k' })
      await outbox.append([slow], open)
      const first = aMessage({ orderingKey: 'k' })
      await outbox.append([first], quick)
      await quick.commit()
      const second = aMessage({ orderingKey: 'k' })
      await outbox.append([second])
      const leased = await leaseAll(outbox)
      deepStrictEqual(idsOf(leased), [first.id, second.id])
      await outbox.settle(succeeded(leased))
      await open.commit()
      deepStrictEqual(idsOf(await leaseAll(outbox)), [slow.id])
    },
  },
  {
    concern: 'ordering',
    needs,
    title: 'keeps the order of commits where producers of a key take turns',
    async run(fixture) {
      const { outbox } = fixture
      const [first, second] = [await fixture.begin(), await fixture.begin()]
      const [a, b] = messages(2, () => ({ orderingKey: 'k' }))
      ok(a !== undefined && b !== undefined)
      await outbox.append([a], { ...first, ordering: 'commit' })
      const waiting = outbox.append([b], { ...second, ordering: 'commit' })
      await staysPending(waiting)
      const elsewhere = aMessage({ orderingKey: 'other' })
      await outbox.append([elsewhere], { ordering: 'commit' })
      await first.commit()
      await waiting
      await second.commit()
      const order = (await leaseAll(outbox)).filter(({ message }) => message.orderingKey === 'k')
      deepStrictEqual(idsOf(order), [a.id, b.id])
    },
  },
]

/** Runs what must not spoil a transaction, then writes with it, commits, and looks for what was written. */
async function usableAfter(
  fixture: StoreFixture,
  work: (transaction: CallersTransaction) => Promise<void>,
): Promise<void> {
  const before = idsOf(await leaseAll(fixture.outbox))
  const transaction = await fixture.begin()
  const written: NewMessage[] = messages(2)
  await fixture.outbox.append(written.slice(0, 1), transaction)
  await work(transaction)
  await fixture.outbox.append(written.slice(1), transaction)
  await transaction.commit()
  const found = idsOf(await leaseAll(fixture.outbox)).filter((id) => !before.includes(id))
  deepStrictEqual(found, [at(written, 0).id, at(written, 1).id])
}
