import { deepStrictEqual, ok } from 'node:assert/strict'
import {
  aMessage,
  aRequest,
  at,
  eventually,
  idsOf,
  leaseAll,
  leaseSoon,
  messages,
  only,
  retried,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = 'suspects'

/** A message that ends its process ends nobody else's attempts. */
export const suspectCases: readonly StoreCase[] = [
  {
    concern,
    title: 'gives an expired message again as a suspect, with the next attempt',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      only((await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes)
      const again = only((await leaseSoon(fixture, inbox)).envelopes)
      deepStrictEqual([again.attempt, again.suspect], [2, true])
      const record = await inbox.get(again.message.id)
      deepStrictEqual(
        record?.failures.map(({ attempt, code }) => [attempt, code]),
        [[1, 'LEASE_EXPIRED']],
      )
    },
  },
  {
    concern,
    title: 'leases a suspect alone, and nothing on either axis while it runs',
    async run(fixture) {
      const { inbox, outbox } = fixture
      await inbox.append(messages(2))
      deepStrictEqual((await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes.length, 2)
      await fixture.pass(80)
      await inbox.append(messages(5))
      await outbox.append(messages(5))
      const shared: string[] = []
      let alone = 0
      // Held leases end at once here, so a suspect has its turn soon; whenever one runs, nothing else may come.
      await eventually(fixture, 'both suspects have run', async () => {
        const { envelopes } = await inbox.lease(aRequest())
        if (envelopes.some((envelope) => envelope.suspect)) {
          only(envelopes)
          alone += 1
          deepStrictEqual(await leaseAll(inbox, { owner: 'worker-2' }), [])
          deepStrictEqual(await leaseAll(outbox), [])
        } else shared.push(...idsOf(envelopes))
        await inbox.settle(succeeded(envelopes))
        return alone === 2
      })
      shared.push(...idsOf(await leaseAll(inbox)))
      deepStrictEqual(shared.length, 5)
      deepStrictEqual((await leaseAll(outbox)).length, 5)
    },
  },
  {
    concern,
    title: 'lets a suspect wait until every held lease has ended',
    async run(fixture) {
      const { inbox, outbox } = fixture
      await outbox.append([aMessage()])
      const held = only((await outbox.lease(aRequest())).envelopes)
      await inbox.append([aMessage()])
      await inbox.lease(aRequest({ leaseMs: 60 }))
      await fixture.pass(80)
      for (let call = 0; call < 8; call += 1) {
        deepStrictEqual((await inbox.lease(aRequest())).envelopes, [])
        await fixture.pass(25)
      }
      await outbox.settle(succeeded([held]))
      ok(only((await leaseSoon(fixture, inbox)).envelopes).suspect)
    },
  },
  {
    concern,
    title: 'parks an expired message without attempts left when it would be leased',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage(), aMessage({ orderingKey: 'k' })])
      deepStrictEqual((await inbox.lease(aRequest({ leaseMs: 60, maxAttempts: 1 }))).envelopes.length, 2)
      let parked = 0
      await eventually(fixture, 'both are parked', async () => {
        const batch = await inbox.lease(aRequest({ maxAttempts: 1 }))
        deepStrictEqual(batch.envelopes, [])
        parked += batch.parked
        return parked === 2
      })
      const { records } = await inbox.query({ states: ['parked'] })
      deepStrictEqual(
        records.map(({ failures }) => failures.at(-1)?.code),
        ['LEASE_EXPIRED', 'LEASE_EXPIRED'],
      )
    },
  },
  {
    concern,
    title: 'keeps a released suspect apart, because it has not run to an end',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      await inbox.lease(aRequest({ leaseMs: 60 }))
      const suspect = only((await leaseSoon(fixture, inbox)).envelopes)
      await inbox.release([suspect.lease])
      await inbox.append(messages(3))
      const order: boolean[][] = []
      await eventually(fixture, 'all four were leased', async () => {
        const { envelopes } = await inbox.lease(aRequest())
        if (envelopes.length > 0) order.push(envelopes.map((envelope) => envelope.suspect))
        await inbox.settle(succeeded(envelopes))
        return order.flat().length === 4
      })
      ok(order.every((flags) => flags.length === 1 || !flags.includes(true)))
      deepStrictEqual(order.flat().filter(Boolean).length, 1)
    },
  },
  {
    concern,
    title: 'trusts a suspect again once it has failed without ending its process',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      await inbox.lease(aRequest({ leaseMs: 60 }))
      await inbox.settle([retried(only((await leaseSoon(fixture, inbox)).envelopes))])
      const third = only((await leaseSoon(fixture, inbox)).envelopes)
      deepStrictEqual([third.attempt, third.suspect], [3, false])
    },
  },
  {
    concern,
    title:
      'costs every other message of a batch at most one attempt when one ends its process again and again',
    timeoutMs: 60_000,
    async run(fixture) {
      const killer = aMessage({ contractName: 'killer' })
      const batch = [...messages(20), killer, ...messages(20)]
      await fixture.inbox.append(batch)
      const attempts = new Map<string, number>()
      let store = fixture.inbox
      await eventually(fixture, 'everything has ended', async () => {
        const { envelopes } = await store.lease(aRequest({ leaseMs: 150, maxAttempts: 3 }))
        for (const { message, attempt } of envelopes) attempts.set(message.id, attempt)
        if (envelopes.some(({ message }) => message.contractName === 'killer')) {
          // The process is gone, and with it whatever else it held: another one takes over.
          store = (await fixture.another()).inbox
        } else await store.settle(succeeded(envelopes))
        const counts = await store.statusCounts()
        return counts.awaiting + counts.leased + counts.retryScheduled === 0
      })
      const { records } = await fixture.inbox.query({ states: ['parked'] })
      deepStrictEqual(
        records.map(({ message }) => message.id),
        [killer.id],
      )
      const others = batch.filter((message) => message !== killer).map(({ id }) => attempts.get(id) ?? 0)
      ok(others.every((attempt) => attempt >= 1 && attempt <= 2))
      deepStrictEqual(
        at(
          [...attempts].filter(([id]) => id === killer.id),
          0,
        )[1],
        3,
      )
    },
  },
]
