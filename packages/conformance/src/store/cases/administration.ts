import { deepStrictEqual, ok } from 'node:assert/strict'
import type { MessageRecord } from '@litebus/core'
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

/** What operators see and do. */
export const administrationCases: readonly StoreCase[] = [
  {
    concern: 'requeue',
    title: 'makes dead letters pending with a fresh budget, keeping history and first failure',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      await inbox.settle([retried(only(await leaseAll(inbox)))])
      const second = only((await leaseSoon(fixture, inbox)).envelopes)
      await inbox.settle([deadLettered(second)])
      const before = await inbox.get(second.message.id)
      deepStrictEqual(await inbox.requeue({ failureCode: 'POISON' }), { requested: 1, requeued: 1 })
      const after = await inbox.get(second.message.id)
      deepStrictEqual([after?.state, after?.attempts], ['awaiting', 0])
      deepStrictEqual(after?.failures, before?.failures)
      deepStrictEqual(after?.firstFailureAt, before?.firstFailureAt)
      const again = only((await leaseSoon(fixture, inbox)).envelopes)
      deepStrictEqual([again.attempt, again.firstFailureAt], [1, before?.firstFailureAt])
    },
  },
  {
    concern: 'requeue',
    title: 'touches only what the filter names and the limit allows',
    async run({ inbox }) {
      await inbox.append(messages(4, (index) => ({ contractName: index < 3 ? 'a' : 'b' })))
      const leased = await leaseAll(inbox)
      await inbox.settle(leased.map((envelope) => deadLettered(envelope)))
      deepStrictEqual(await inbox.requeue({ contracts: ['a'] }, { limit: 2 }), { requested: 2, requeued: 2 })
      deepStrictEqual((await inbox.statusCounts()).parked, 2)
      deepStrictEqual(await inbox.requeue({ contracts: ['c'] }), { requested: 0, requeued: 0 })
    },
  },
  {
    concern: 'query',
    title: 'pages through everything in the order of the writes, each message once',
    async run({ inbox }) {
      const batch = messages(25)
      await inbox.append(batch)
      const seen: MessageRecord[] = []
      for (let after: string | undefined, page = 0; page < 10; page += 1) {
        const { records, next } = await inbox.query({ limit: 10, ...(after === undefined ? {} : { after }) })
        seen.push(...records)
        if (next === undefined) break
        after = next
      }
      deepStrictEqual(
        seen.map(({ message }) => message.id),
        batch.map((message) => message.id),
      )
    },
  },
  {
    concern: 'query',
    title: 'narrows by every field of the filter',
    async run({ inbox }) {
      const wanted = aMessage({ tenantId: 'acme', contractName: 'a', orderingKey: 'k' })
      await inbox.append([wanted, aMessage({ tenantId: 'other', contractName: 'b', orderingKey: 'l' })])
      const found = async (filter: Parameters<typeof inbox.query>[0]): Promise<string[]> =>
        (await inbox.query(filter)).records.map(({ message }) => message.id)
      const { createdAt } = at((await inbox.query({ ids: [wanted.id] })).records, 0).message
      for (const filter of [
        { ids: [wanted.id] },
        { tenants: ['acme'] },
        { contracts: ['a'] },
        { orderingKey: 'k' },
      ]) {
        deepStrictEqual(await found(filter), [wanted.id])
      }
      deepStrictEqual(await found({ createdBefore: createdAt }), [])
      deepStrictEqual((await found({ createdFrom: createdAt })).length, 2)
      deepStrictEqual(await found({ states: [] }), [])
      deepStrictEqual(await found({ states: ['parked', 'succeeded'] }), [])
      deepStrictEqual((await found({ states: ['awaiting'] })).length, 2)
    },
  },
  {
    concern: 'query',
    title: 'tells where each message stands',
    async run({ inbox }) {
      await inbox.append(messages(5))
      const leased = (await inbox.lease(aRequest({ limit: 4 }))).envelopes
      await inbox.settle([
        ...succeeded([at(leased, 0)]),
        retried(at(leased, 1), 60_000),
        deadLettered(at(leased, 2)),
      ])
      const { records } = await inbox.query({})
      deepStrictEqual(
        records.map(({ state, attempts }) => [state, state === 'succeeded' ? 0 : attempts]),
        [
          ['succeeded', 0],
          ['retryScheduled', 1],
          ['parked', 1],
          ['leased', 1],
          ['awaiting', 0],
        ],
      )
      ok(at(records, 0).endedAt && at(records, 1).dueAt && at(records, 2).endedAt && at(records, 4).dueAt)
      ok(records.every(({ payload, message }) => payload === 'stored' && message.body.byteLength > 0))
    },
  },
  {
    concern: 'query',
    title: 'knows no message under an unknown id',
    async run({ inbox }) {
      deepStrictEqual(await inbox.get(aMessage().id), undefined)
    },
  },
  {
    concern: 'purge',
    title: 'asks for a confirmation before it deletes everything',
    async run({ inbox }) {
      await inbox.append(messages(3))
      await rejects(inbox.purge({}), 'INVALID_OPERATION')
      deepStrictEqual(await inbox.purge({}, { all: true }), 3)
      deepStrictEqual((await inbox.query({})).records, [])
    },
  },
  {
    concern: 'purge',
    title: 'deletes what the filter names, never what is leased, and forgets its identity',
    async run({ inbox }) {
      const batch = messages(4, () => ({ contractName: 'a' }))
      await inbox.append(batch)
      const leased = (await inbox.lease(aRequest({ limit: 2 }))).envelopes
      await inbox.settle([deadLettered(at(leased, 0))])
      deepStrictEqual(await inbox.purge({ contracts: ['b'] }), 0)
      deepStrictEqual(await inbox.purge({ contracts: ['a'] }, { limit: 1 }), 1)
      deepStrictEqual(await inbox.purge({ contracts: ['a'] }), 2)
      deepStrictEqual(
        idsOf([at(leased, 1)]),
        (await inbox.query({})).records.map(({ message }) => message.id),
      )
      deepStrictEqual(await inbox.settle(succeeded([at(leased, 1)])), ['applied'])
      deepStrictEqual(only(await inbox.append(batch.slice(0, 1))).status, 'inserted')
    },
  },
  {
    concern: 'retention',
    title: 'deletes payloads of what succeeded long ago, later its identity, and nothing else',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append(messages(3))
      const leased = (await inbox.lease(aRequest({ limit: 2 }))).envelopes
      await inbox.settle([...succeeded([at(leased, 0)]), deadLettered(at(leased, 1))])
      deepStrictEqual(await inbox.runRetention(), { payloads: 0, identities: 0 })
      await fixture.pass(50)
      deepStrictEqual(await inbox.runRetention({ retentionMs: 1 }), { payloads: 1, identities: 0 })
      const record = await inbox.get(at(leased, 0).message.id)
      deepStrictEqual(
        [record?.state, record?.payload, record?.message.body.byteLength],
        ['succeeded', 'deleted', 0],
      )
      deepStrictEqual(await inbox.runRetention({ retentionMs: 1, dedupRetentionMs: 1 }), {
        payloads: 0,
        identities: 1,
      })
      deepStrictEqual(await inbox.get(at(leased, 0).message.id), undefined)
      deepStrictEqual((await inbox.query({})).records.length, 2)
    },
  },
  {
    concern: 'counts',
    title: 'counts by state, with the age of the oldest due message',
    async run(fixture) {
      const { inbox } = fixture
      deepStrictEqual(await inbox.statusCounts(), {
        awaiting: 0,
        leased: 0,
        retryScheduled: 0,
        parked: 0,
        keysBlocked: 0,
      })
      await inbox.append(messages(5))
      const leased = (await inbox.lease(aRequest({ limit: 3 }))).envelopes
      await inbox.settle([retried(at(leased, 0), 60_000), deadLettered(at(leased, 1))])
      await fixture.pass(30)
      const { oldestDueAgeMs, ...counts } = await inbox.statusCounts()
      deepStrictEqual(counts, { awaiting: 2, leased: 1, retryScheduled: 1, parked: 1, keysBlocked: 0 })
      ok(oldestDueAgeMs !== undefined && oldestDueAgeMs >= 25)
    },
  },
  {
    concern: 'schema',
    title: 'has the schema that it expects, and can be used',
    async run({ inbox, outbox }) {
      await inbox.probe()
      await outbox.probe()
      const { installed, expected } = await inbox.schemaInfo()
      ok(installed === expected && installed > 0)
      deepStrictEqual([inbox.axis, outbox.axis], ['inbox', 'outbox'])
    },
  },
]
