import { deepStrictEqual, ok } from 'node:assert/strict'
import {
  aMessage,
  aRequest,
  at,
  deadLettered,
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

const concern = 'ordering'
const keyed = (count: number, orderingKey = 'k'): ReturnType<typeof messages> =>
  messages(count, () => ({ orderingKey }))

/** One key, one run at a time, in order. */
export const orderingCases: readonly StoreCase[] = [
  {
    concern,
    title: 'gives the messages of a key in the order of their writes, and nothing more while they run',
    async run(fixture) {
      const { inbox } = fixture
      const batch = keyed(5)
      await inbox.append(batch.slice(0, 3))
      const run = (await inbox.lease(aRequest())).envelopes
      deepStrictEqual(idsOf(run), idsOfMessages(batch.slice(0, 3)))
      await inbox.append(batch.slice(3))
      const other = (await fixture.another()).inbox
      deepStrictEqual(await leaseAll(inbox, { owner: 'worker-2' }), [])
      deepStrictEqual(await leaseAll(other, { owner: 'worker-3' }), [])
      await inbox.settle(succeeded(run.slice(0, 2)))
      deepStrictEqual(await leaseAll(other, { owner: 'worker-3' }), [])
      await inbox.settle(succeeded(run.slice(2)))
      deepStrictEqual(idsOf(await leaseAll(other, { owner: 'worker-3' })), idsOfMessages(batch.slice(3)))
    },
  },
  {
    concern,
    title: 'gives at most the asked number of one key',
    async run({ inbox }) {
      const batch = keyed(5)
      await inbox.append(batch)
      const run = await leaseAll(inbox, { maxPerKey: 2 })
      deepStrictEqual(idsOf(run), idsOfMessages(batch.slice(0, 2)))
      await inbox.settle(succeeded(run))
      deepStrictEqual(idsOf(await leaseAll(inbox, { maxPerKey: 2 })), idsOfMessages(batch.slice(2, 4)))
    },
  },
  {
    concern,
    title: 'lets later messages of a key wait while an earlier one retries, and other keys go on',
    async run(fixture) {
      const { inbox } = fixture
      const [first, second] = [aMessage({ orderingKey: 'a' }), aMessage({ orderingKey: 'a' })]
      await inbox.append([first, second])
      const run = await leaseAll(inbox)
      await inbox.settle([retried(at(run, 0), 1500)])
      await inbox.release([at(run, 1).lease])
      const other = aMessage({ orderingKey: 'b' })
      await inbox.append([other])
      deepStrictEqual(idsOf(await leaseAll(inbox)), [other.id])
      await fixture.pass(1550)
      deepStrictEqual(idsOf((await leaseSoon(fixture, inbox)).envelopes), [first.id, second.id])
    },
  },
  {
    concern,
    title: 'scopes keys to their tenant',
    async run({ inbox }) {
      await inbox.append([aMessage({ orderingKey: 'k', tenantId: 'a' })])
      only(await leaseAll(inbox))
      await inbox.append([aMessage({ orderingKey: 'k', tenantId: 'b' })])
      only(await leaseAll(inbox, { owner: 'worker-2' }))
    },
  },
  {
    concern,
    title: 'gives a run that expired again in its order',
    async run(fixture) {
      const { inbox } = fixture
      const batch = keyed(4)
      await inbox.append(batch)
      deepStrictEqual((await inbox.lease(aRequest({ leaseMs: 60, maxPerKey: 3 }))).envelopes.length, 3)
      const order: string[] = []
      await eventually(fixture, 'all four were handled', async () => {
        const { envelopes } = await inbox.lease(aRequest())
        order.push(...idsOf(envelopes))
        await inbox.settle(succeeded(envelopes))
        return order.length === 4
      })
      deepStrictEqual(order, idsOfMessages(batch))
    },
  },
  {
    concern,
    title: 'blocks a key behind its dead letter until that is requeued, and then takes it first',
    async run({ inbox }) {
      const batch = keyed(3)
      await inbox.append(batch.slice(0, 2))
      const run = await leaseAll(inbox)
      await inbox.settle([deadLettered(at(run, 0))])
      await inbox.release([at(run, 1).lease])
      await inbox.append(batch.slice(2))
      deepStrictEqual(await leaseAll(inbox), [])
      deepStrictEqual((await inbox.statusCounts()).keysBlocked, 1)
      deepStrictEqual(await inbox.requeue({ ids: [at(batch, 0).id] }), { requested: 1, requeued: 1 })
      const again = await leaseAll(inbox)
      deepStrictEqual(idsOf(again), idsOfMessages(batch))
      deepStrictEqual((await inbox.statusCounts()).keysBlocked, 0)
    },
  },
  {
    concern,
    title: 'goes on with a key when its dead letter is purged',
    async run({ inbox }) {
      const batch = keyed(2)
      await inbox.append(batch)
      const run = await leaseAll(inbox)
      await inbox.settle([deadLettered(at(run, 0))])
      await inbox.release([at(run, 1).lease])
      deepStrictEqual(await leaseAll(inbox), [])
      deepStrictEqual(await inbox.purge({ states: ['parked'] }), 1)
      deepStrictEqual(idsOf(await leaseAll(inbox)), [at(batch, 1).id])
    },
  },
  {
    concern,
    title: 'parks what waits behind a dead letter where the policy says so',
    async run(fixture) {
      const { inbox } = fixture
      const batch = keyed(3)
      await inbox.append(batch.slice(0, 2))
      const run = await leaseAll(inbox)
      await inbox.settle([deadLettered(at(run, 0))])
      await inbox.release([at(run, 1).lease])
      await inbox.append(batch.slice(2))
      let parked = 0
      await eventually(fixture, 'the others are parked', async () => {
        const answer = await inbox.lease(aRequest({ onKeyDeadLetter: 'park' }))
        deepStrictEqual(answer.envelopes, [])
        parked += answer.parked
        return parked === 2
      })
      const { records } = await inbox.query({ failureCode: 'KEY_PARKED' })
      deepStrictEqual(
        records.map(({ message }) => message.id),
        idsOfMessages(batch.slice(1)),
      )
      await inbox.requeue({ orderingKey: 'k' })
      deepStrictEqual(idsOf(await leaseAll(inbox, { onKeyDeadLetter: 'park' })), idsOfMessages(batch))
    },
  },
  {
    concern,
    title: 'skips a dead letter where the policy says so',
    async run({ inbox }) {
      const batch = keyed(2)
      await inbox.append(batch)
      const run = await leaseAll(inbox)
      await inbox.settle([deadLettered(at(run, 0))])
      await inbox.release([at(run, 1).lease])
      deepStrictEqual(idsOf(await leaseAll(inbox, { onKeyDeadLetter: 'skip' })), [at(batch, 1).id])
    },
  },
  {
    concern,
    title: 'does not starve 50 healthy keys behind 300 that retry',
    timeoutMs: 60_000,
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append(messages(300, (index) => ({ orderingKey: `a-${String(index)}` })))
      const failing = await leaseAll(inbox)
      deepStrictEqual(failing.length, 300)
      await inbox.settle(failing.map((envelope) => retried(envelope, 60_000)))
      await inbox.append(messages(50, (index) => ({ orderingKey: `b-${String(index)}` })))
      const seen = new Set<string>()
      await eventually(fixture, 'every healthy key had its turn', async () => {
        const { envelopes } = await inbox.lease(aRequest({ limit: 10 }))
        for (const { message } of envelopes) seen.add(message.orderingKey ?? '')
        await inbox.settle(succeeded(envelopes))
        return seen.size === 50
      })
    },
  },
  {
    concern,
    title: 'gives every key its turn while one has a long backlog',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append(keyed(300, 'long'))
      await inbox.append(messages(5, (index) => ({ orderingKey: `short-${String(index)}` })))
      const seen = new Set<string>()
      for (let call = 0; call < 20 && seen.size < 6; call += 1) {
        const { envelopes } = await inbox.lease(aRequest({ limit: 10, maxPerKey: 10 }))
        for (const { message } of envelopes) seen.add(message.orderingKey ?? '')
        await inbox.settle(succeeded(envelopes))
      }
      deepStrictEqual(seen.size, 6)
      ok((await fixture.inbox.statusCounts()).awaiting > 0)
    },
  },
]

function idsOfMessages(batch: readonly { readonly id: string }[]): string[] {
  return batch.map((message) => message.id)
}
