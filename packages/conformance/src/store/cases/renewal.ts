import { deepStrictEqual } from 'node:assert/strict'
import {
  aMessage,
  aRequest,
  at,
  leaseAll,
  leaseSoon,
  messages,
  only,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = 'renewal'

/** A worker that lives keeps its leases. */
export const renewalCases: readonly StoreCase[] = [
  {
    concern,
    title: 'keeps a lease beyond its first time',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      const { lease } = only((await inbox.lease(aRequest({ leaseMs: 300 }))).envelopes)
      deepStrictEqual(await inbox.renew([lease], 60_000), ['renewed'])
      await fixture.pass(400)
      deepStrictEqual(await leaseAll(inbox, { owner: 'worker-2' }), [])
      deepStrictEqual(await inbox.settle([{ kind: 'succeeded', lease }]), ['applied'])
    },
  },
  {
    concern,
    title: 'answers slot by slot what was lost',
    async run({ inbox }) {
      await inbox.append(messages(3))
      const leased = await leaseAll(inbox)
      await inbox.settle(succeeded([at(leased, 1)]))
      const foreign = { ...at(leased, 2).lease, owner: 'worker-2' }
      deepStrictEqual(await inbox.renew([at(leased, 0).lease, at(leased, 1).lease, foreign], 60_000), [
        'renewed',
        'lost',
        'lost',
      ])
      deepStrictEqual(await inbox.renew([], 60_000), [])
    },
  },
  {
    concern,
    title: 'does not renew a lease that somebody else has taken over',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      const first = only((await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes)
      const second = only((await leaseSoon(fixture, inbox, { owner: 'worker-2' })).envelopes)
      deepStrictEqual(await inbox.renew([first.lease], 60_000), ['lost'])
      deepStrictEqual(await inbox.renew([second.lease], 60_000), ['renewed'])
    },
  },
  {
    concern,
    title: 'extends only the leases that it names',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append(messages(2))
      const leased = (await inbox.lease(aRequest({ leaseMs: 200 }))).envelopes
      deepStrictEqual(await inbox.renew([at(leased, 0).lease], 60_000), ['renewed'])
      const other = (await fixture.another()).inbox
      const recovered = only((await leaseSoon(fixture, other, { owner: 'worker-2' })).envelopes)
      deepStrictEqual(recovered.message.id, at(leased, 1).message.id)
    },
  },
]
