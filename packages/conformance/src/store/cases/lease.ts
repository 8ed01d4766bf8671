import { deepStrictEqual, ok } from 'node:assert/strict'
import type { StoreSuiteOptions } from '../store-fixture.ts'
import {
  aMessage,
  aRequest,
  at,
  deadLettered,
  idsOf,
  leaseAll,
  leaseSoon,
  messages,
  only,
  rejects,
  retried,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = 'lease'

/** Who may work on what. */
export function leaseCases({ raceRows = 2000 }: StoreSuiteOptions): readonly StoreCase[] {
  return [
    {
      concern,
      title: 'gives at most the limit, oldest first, and tells that there is more',
      async run({ inbox }) {
        const batch = messages(5)
        await inbox.append(batch)
        const first = await inbox.lease(aRequest({ limit: 3 }))
        deepStrictEqual(
          idsOf(first.envelopes),
          batch.slice(0, 3).map((message) => message.id),
        )
        ok(first.more)
        deepStrictEqual(
          idsOf(await leaseAll(inbox, { limit: 3 })),
          batch.slice(3).map((message) => message.id),
        )
      },
    },
    {
      concern,
      title: 'gives a message to nobody else while its lease lasts',
      async run(fixture) {
        const { inbox } = fixture
        const second = await fixture.another()
        await inbox.append(messages(10))
        const taken = await leaseAll(inbox)
        deepStrictEqual(taken.length, 10)
        deepStrictEqual(await leaseAll(inbox, { owner: 'worker-2' }), [])
        deepStrictEqual(await leaseAll(second.inbox, { owner: 'worker-2' }), [])
      },
    },
    {
      concern,
      title: 'names owner, sequence and generation, and counts the attempt',
      async run(fixture) {
        const { inbox } = fixture
        await inbox.append([aMessage()])
        const first = only((await inbox.lease(aRequest({ owner: 'label-9f' }))).envelopes)
        deepStrictEqual([first.lease.owner, first.attempt, first.suspect], ['label-9f', 1, false])
        await inbox.settle([retried(first)])
        const second = only((await leaseSoon(fixture, inbox)).envelopes)
        deepStrictEqual([second.lease.sequence, second.attempt], [first.lease.sequence, 2])
        ok(second.firstFailureAt instanceof Date)
      },
    },
    {
      concern,
      title: 'never repeats a generation of a message, whatever became of it between',
      async run(fixture) {
        const { inbox } = fixture
        await inbox.append([aMessage()])
        const generations: bigint[] = []
        for (const end of ['release', 'retry', 'park', 'none'] as const) {
          const envelope = only((await leaseSoon(fixture, inbox)).envelopes)
          generations.push(BigInt(envelope.lease.generation))
          if (end === 'release') await inbox.release([envelope.lease])
          if (end === 'retry') await inbox.settle([retried(envelope)])
          if (end === 'park') {
            await inbox.settle([deadLettered(envelope)])
            await inbox.requeue({})
          }
        }
        ok(generations.every((generation, index) => index === 0 || generation > at(generations, index - 1)))
      },
    },
    {
      concern,
      title: 'takes only the tenants that were asked for, the empty string being the unscoped partition',
      async run({ inbox }) {
        const batch = messages(6, (index) =>
          index % 3 === 0 ? {} : { tenantId: index % 3 === 1 ? 'a' : 'b' },
        )
        await inbox.append(batch)
        const wanted = batch.filter((message) => message.tenantId !== 'b').map((message) => message.id)
        deepStrictEqual(idsOf(await leaseAll(inbox, { tenants: ['', 'a'] })).sort(), wanted.sort())
        deepStrictEqual((await leaseAll(inbox)).length, 2)
      },
    },
    {
      concern,
      title: 'takes only the contracts that were asked for, and leaves the rest to others',
      async run({ inbox }) {
        const batch = messages(6, (index) => ({
          contractName: index % 2 === 0 ? 'even' : 'odd',
          ...(index < 3 ? {} : { orderingKey: `key-${String(index)}` }),
        }))
        await inbox.append(batch)
        const even = await leaseAll(inbox, { contracts: ['even'] })
        ok(even.length === 3 && even.every(({ message }) => message.contractName === 'even'))
        const odd = await leaseAll(inbox, { contracts: ['odd'] })
        ok(odd.length === 3 && odd.every(({ message }) => message.contractName === 'odd'))
      },
    },
    {
      concern,
      title: 'refuses a request that makes no sense',
      async run({ inbox }) {
        for (const over of [
          { limit: 0 },
          { limit: 10_001 },
          { leaseMs: 0 },
          { maxAttempts: 0 },
          { owner: '' },
        ]) {
          await rejects(inbox.lease(aRequest(over)), 'ARGUMENT_INVALID')
        }
      },
    },
    {
      concern,
      title: 'does not starve new messages behind many retries',
      async run(fixture) {
        const { inbox } = fixture
        await inbox.append(messages(30))
        const retries = await leaseAll(inbox)
        await inbox.settle(retries.map((envelope) => retried(envelope)))
        await fixture.pass(20)
        const late = aMessage()
        await inbox.append([late])
        const seen: string[] = []
        for (let call = 0; call < 4; call += 1) {
          const { envelopes } = await inbox.lease(aRequest({ limit: 10 }))
          seen.push(...idsOf(envelopes))
          await fixture.pass(5)
          await inbox.settle(envelopes.map((envelope) => retried(envelope)))
        }
        ok(seen.includes(late.id))
      },
    },
    {
      concern,
      title: 'gives every message once to workers that race',
      timeoutMs: 120_000,
      async run(fixture) {
        const rows = raceRows
        const stores = [fixture.inbox, (await fixture.another()).inbox]
        for (let part = 0; part < rows; part += 1000) {
          await fixture.inbox.append(messages(Math.min(1000, rows - part)))
        }
        const seen = new Map<string, number>()
        let settled = 0
        await Promise.all(
          Array.from({ length: 8 }, async (_, worker) => {
            const store = at(stores, worker % 2)
            for (let idle = 0; settled < rows && idle < 2000;) {
              const { envelopes } = await store.lease(aRequest({ owner: `w${String(worker)}`, limit: 37 }))
              for (const id of idsOf(envelopes)) seen.set(id, (seen.get(id) ?? 0) + 1)
              const results = await store.settle(succeeded(envelopes))
              settled += results.filter((result) => result === 'applied').length
              idle = envelopes.length === 0 ? idle + 1 : 0
              if (envelopes.length === 0) await fixture.pass(1)
            }
          }),
        )
        deepStrictEqual([settled, seen.size, Math.max(...seen.values())], [rows, rows, 1])
      },
    },
  ]
}
