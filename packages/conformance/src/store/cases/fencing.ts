import { deepStrictEqual } from 'node:assert/strict'
import {
  aMessage,
  aRequest,
  deadLettered,
  leaseAll,
  leaseSoon,
  messages,
  only,
  retried,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = 'fencing'

/** Only the holder of the latest lease is heard. */
export const fencingCases: readonly StoreCase[] = [
  {
    concern,
    title: 'settles a lease once, also when one call names it twice',
    async run({ inbox }) {
      await inbox.append(messages(2))
      const leased = await leaseAll(inbox)
      const outcomes = succeeded(leased)
      deepStrictEqual(await inbox.settle([...outcomes, ...outcomes]), [
        'applied',
        'applied',
        'leaseLost',
        'leaseLost',
      ])
      deepStrictEqual(await inbox.settle(outcomes), ['leaseLost', 'leaseLost'])
    },
  },
  {
    concern,
    title: 'refuses another owner and another generation',
    async run({ inbox }) {
      await inbox.append([aMessage()])
      const { lease } = only(await leaseAll(inbox))
      const foreign = { ...lease, owner: 'worker-2' }
      const stale = { ...lease, generation: String(BigInt(lease.generation) - 1n) }
      deepStrictEqual(
        await inbox.settle([
          { kind: 'succeeded', lease: foreign },
          { kind: 'succeeded', lease: stale },
        ]),
        ['leaseLost', 'leaseLost'],
      )
      deepStrictEqual(await inbox.settle([{ kind: 'succeeded', lease }]), ['applied'])
    },
  },
  {
    concern,
    title: 'refuses a stale generation of the same owner after the message was leased again',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      const first = only((await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes)
      const second = only((await leaseSoon(fixture, inbox)).envelopes)
      for (const outcome of [...succeeded([first]), retried(first), deadLettered(first)]) {
        deepStrictEqual(await inbox.settle([outcome]), ['leaseLost'])
      }
      await inbox.release([first.lease])
      deepStrictEqual(await inbox.settle(succeeded([second])), ['applied'])
    },
  },
  {
    concern,
    title: 'hears one of the owners that settle at the same time',
    async run(fixture) {
      const { inbox } = fixture
      const other = (await fixture.another()).inbox
      await inbox.append(messages(50))
      const first = await leaseAll(inbox)
      const results = await Promise.all([
        inbox.settle(succeeded(first)),
        other.settle(first.map((envelope) => deadLettered(envelope))),
        inbox.settle(first.map((envelope) => retried(envelope, 60_000))),
      ])
      first.forEach((_, index) => {
        deepStrictEqual(results.filter((result) => result[index] === 'applied').length, 1)
      })
      const counts = await inbox.statusCounts()
      deepStrictEqual([counts.awaiting, counts.leased], [0, 0])
    },
  },
  {
    concern,
    title: 'does not let a lease from before a requeue settle the new life of the message',
    async run({ inbox }) {
      await inbox.append([aMessage()])
      const first = only(await leaseAll(inbox))
      await inbox.settle([deadLettered(first)])
      await inbox.requeue({})
      deepStrictEqual(await inbox.settle(succeeded([first])), ['leaseLost'])
      only(await leaseAll(inbox))
      deepStrictEqual(await inbox.settle(succeeded([first])), ['leaseLost'])
    },
  },
]
