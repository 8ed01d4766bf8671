import { deepStrictEqual, ok } from 'node:assert/strict'
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
  retried,
  succeeded,
  type StoreCase,
} from '../support.ts'

const concern = 'settle'

/** What became of a message is recorded, all at once. */
export const settleCases: readonly StoreCase[] = [
  {
    concern,
    title: 'records successes, retries and dead letters of one call',
    async run({ inbox }) {
      await inbox.append(messages(3))
      const leased = await leaseAll(inbox)
      const outcomes = [
        ...succeeded([at(leased, 0)]),
        retried(at(leased, 1), 60_000),
        deadLettered(at(leased, 2)),
      ]
      deepStrictEqual(await inbox.settle(outcomes), ['applied', 'applied', 'applied'])
      const states = await Promise.all(idsOf(leased).map(async (id) => (await inbox.get(id))?.state))
      deepStrictEqual(states, ['succeeded', 'retryScheduled', 'parked'])
      deepStrictEqual(await inbox.settle([]), [])
    },
  },
  {
    concern,
    title: 'makes a retry due after its delay, not before',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      await inbox.settle([retried(only(await leaseAll(inbox)), 1500)])
      deepStrictEqual(await leaseAll(inbox), [])
      await fixture.pass(1550)
      deepStrictEqual(only((await leaseSoon(fixture, inbox)).envelopes).attempt, 2)
    },
  },
  {
    concern,
    title: 'keeps the history of failed attempts and the time of the first, at most the last 20',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage()])
      for (let attempt = 1; attempt <= 22; attempt += 1) {
        const envelope = only((await leaseSoon(fixture, inbox, { maxAttempts: 100 })).envelopes)
        deepStrictEqual(envelope.attempt, attempt)
        const code = `CODE_${String(attempt)}`
        await inbox.settle([attempt < 22 ? retried(envelope, 0, code) : deadLettered(envelope, code)])
      }
      const record = only((await inbox.query({ states: ['parked'] })).records)
      deepStrictEqual(record.failures.length, 20)
      const [oldest, latest] = [at(record.failures, 0), at(record.failures, 19)]
      deepStrictEqual([oldest.attempt, oldest.category, oldest.code], [3, 'DEPENDENCY', 'CODE_3'])
      deepStrictEqual([latest.attempt, latest.category, latest.code], [22, 'VALIDATION', 'CODE_22'])
      ok(record.firstFailureAt !== undefined && record.firstFailureAt <= oldest.at)
      deepStrictEqual(record.attempts, 22)
    },
  },
  {
    concern,
    title: 'never leases again what has succeeded or is parked',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append(messages(2))
      const leased = (await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes
      await inbox.settle([...succeeded([at(leased, 0)]), deadLettered(at(leased, 1))])
      await fixture.pass(100)
      deepStrictEqual(await leaseAll(inbox), [])
    },
  },
  {
    concern: 'release',
    title: 'gives the attempt back, and the message to others at once',
    async run(fixture) {
      const { inbox } = fixture
      const other = (await fixture.another()).inbox
      await inbox.append(messages(3))
      const leased = await leaseAll(inbox)
      await inbox.settle(succeeded([at(leased, 2)]))
      await inbox.release(leased.map((envelope) => envelope.lease))
      const again = (await leaseSoon(fixture, other, { owner: 'worker-2' })).envelopes
      deepStrictEqual(
        again.map(({ attempt, suspect }) => [attempt, suspect]),
        [
          [1, false],
          [1, false],
        ],
      )
    },
  },
  {
    concern: 'release',
    title: 'keeps a message back for the delay that is asked for',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage(), aMessage({ orderingKey: 'k' })])
      const leased = await leaseAll(inbox)
      await inbox.release(
        leased.map((envelope) => envelope.lease),
        { delayMs: 1500 },
      )
      deepStrictEqual(await leaseAll(inbox), [])
      await fixture.pass(1550)
      deepStrictEqual((await leaseAll(inbox)).length, 2)
    },
  },
]
