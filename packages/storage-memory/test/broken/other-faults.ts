import type { MessageRecord, SettleOutcome } from '@litebus/core'
import { uuidV7 } from '@litebus/core'
import { without, type BrokenStore, type Store } from './broken-store.ts'

/** Stores that settle or administer wrongly. */
export const otherFaults: readonly BrokenStore[] = [
  {
    name: 'waits for work that was given up',
    damage: (store) => ({
      completeInTransaction: (lease, work) => store.completeInTransaction(lease, work),
    }),
    foundBy: [
      'completion in a transaction: takes everything back when the work is given up, and waits for it no longer',
    ],
  },
  {
    name: 'says that every settle applied',
    damage: (store) => ({
      async settle(outcomes, options) {
        await store.settle(outcomes, options)
        return outcomes.map(() => 'applied' as const)
      },
    }),
    foundBy: [
      'fencing: settles a lease once, also when one call names it twice',
      'fencing: hears one of the owners that settle at the same time',
    ],
  },
  {
    name: 'settles only the first of a call',
    damage: (store) => ({
      async settle(outcomes, options) {
        await store.settle(outcomes.slice(0, 1), options)
        return outcomes.map(() => 'applied' as const)
      },
    }),
    foundBy: ['settle: records successes, retries and dead letters of one call'],
  },
  {
    name: 'forgets successes',
    damage: (store) => ({
      settle: (outcomes, options) =>
        store.settle(
          outcomes.map((outcome): SettleOutcome =>
            outcome.kind === 'succeeded'
              ? { kind: 'retry', lease: outcome.lease, delayMs: 50, category: 'UNKNOWN', code: 'X' }
              : outcome,
          ),
          options,
        ),
    }),
    foundBy: ['settle: never leases again what has succeeded or is parked'],
  },
  {
    name: 'gives leases back as failures',
    damage: (store) => ({
      async release(leases) {
        await store.settle(
          leases.map((lease) => ({ kind: 'retry', lease, delayMs: 0, category: 'UNKNOWN', code: 'X' })),
        )
      },
    }),
    foundBy: [
      'release: gives the attempt back, and the message to others at once',
      'release: keeps a message back for the delay that is asked for',
    ],
  },
  {
    name: 'requeues as new messages',
    damage: (store) => ({
      async requeue(filter, options) {
        const { records } = await store.query({ ...filter, states: ['parked'] })
        const result = await store.requeue(filter, options)
        await store.purge({ ids: records.map(({ message }) => message.id) })
        await store.append(records.map(({ message }) => ({ ...message, id: message.id })))
        return result
      },
    }),
    foundBy: ['requeue: makes dead letters pending with a fresh budget, keeping history and first failure'],
  },
  {
    name: 'requeues everything',
    damage: (store) => ({ requeue: () => store.requeue({}) }),
    foundBy: ['requeue: touches only what the filter names and the limit allows'],
  },
  {
    name: 'begins every page at the beginning',
    damage: (store) => ({ query: (query) => store.query(without(query, 'after')) }),
    foundBy: ['query: pages through everything in the order of the writes, each message once'],
  },
  {
    name: 'finds whatever was asked for',
    damage: (store) => ({
      query: () => store.query({}),
      get: async () => (await store.get(uuidV7())) ?? aRecord(store),
    }),
    foundBy: ['query: narrows by every field of the filter', 'query: knows no message under an unknown id'],
  },
  {
    name: 'takes everything for waiting',
    damage: (store) => ({
      async query(query) {
        const page = await store.query(query)
        return { ...page, records: page.records.map((record) => ({ ...record, state: 'awaiting' as const })) }
      },
    }),
    foundBy: ['query: tells where each message stands'],
  },
  {
    name: 'purges everything without a question',
    damage: (store) => ({ purge: () => store.purge({}, { all: true }) }),
    foundBy: [
      'purge: asks for a confirmation before it deletes everything',
      'purge: deletes what the filter names, never what is leased, and forgets its identity',
    ],
  },
  {
    name: 'retains nothing',
    damage: (store) => ({ runRetention: () => store.runRetention({ retentionMs: 0, dedupRetentionMs: 0 }) }),
    foundBy: ['retention: deletes payloads of what succeeded long ago, later its identity, and nothing else'],
  },
  {
    name: 'counts nothing',
    damage: () => ({
      statusCounts: () =>
        Promise.resolve({ awaiting: 0, leased: 0, retryScheduled: 0, parked: 0, keysBlocked: 0 }),
    }),
    foundBy: ['counts: counts by state, with the age of the oldest due message'],
  },
  {
    name: 'has another schema',
    damage: () => ({ schemaInfo: () => Promise.resolve({ installed: 1, expected: 2 }) }),
    foundBy: ['schema: has the schema that it expects, and can be used'],
  },
  {
    name: 'sleeps for as long as it was told',
    damage: () => ({ waitForWork: () => new Promise(() => undefined) }),
    foundBy: [
      'work signal: ends a wait at once when the signal aborts',
      'work signal: finds what another process wrote long before the poll interval has passed',
      'work signal: does not lose work that came between the look and the wait',
    ],
  },
]

function aRecord(store: Store): MessageRecord {
  return {
    message: {
      id: uuidV7(),
      contractName: store.axis,
      contractVersion: 1,
      body: new Uint8Array(),
      createdAt: new Date(0),
    },
    payload: 'stored',
    state: 'awaiting',
    attempts: 0,
    failures: [],
  }
}
