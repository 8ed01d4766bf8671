import {
  changingLeases,
  changingRequests,
  keepingOnly,
  noted,
  notedMap,
  without,
  type BrokenStore,
} from './broken-store.ts'

/** Stores that order wrongly. */
export const laneFaults: readonly BrokenStore[] = [
  {
    name: 'leases the next rows of a key while earlier ones run',
    damage(store, shared) {
      const keys = notedMap<string>(shared, 'keys')
      return {
        append(messages, options) {
          for (const { id, orderingKey } of messages) if (orderingKey !== undefined) keys.set(id, orderingKey)
          return store.append(
            messages.map((message) => without(message, 'orderingKey')),
            options,
          )
        },
        ...changingLeases((envelopes) =>
          envelopes.map((envelope) => {
            const orderingKey = keys.get(envelope.message.id)
            return orderingKey === undefined
              ? envelope
              : { ...envelope, message: { ...envelope.message, orderingKey } }
          }),
        )(store, shared),
      }
    },
    foundBy: [
      'ordering: gives the messages of a key in the order of their writes, and nothing more while they run',
      'ordering: gives at most the asked number of one key',
      'ordering: gives a run that expired again in its order',
      'ordering: lets later messages of a key wait while an earlier one retries, and other keys go on',
      'ordering: blocks a key behind its dead letter until that is requeued, and then takes it first',
      'ordering: goes on with a key when its dead letter is purged',
      'randomized checker: holds with few keys, late commits, retries in the middle of a key, and workers that race',
    ],
  },
  {
    name: 'forgets a run in flight when something commits before it',
    damage: (store) => ({
      append: (messages, options) =>
        store.append(
          options?.transaction === undefined
            ? messages
            : messages.map((message) => without(message, 'orderingKey')),
          options,
        ),
    }),
    foundBy: ['ordering: leaves a key to its run in flight when more than a run commits late before it'],
  },
  {
    name: 'orders across tenants',
    damage: (store) => ({
      append: (messages, options) =>
        store.append(
          messages.map((message) => without(message, 'tenantId')),
          options,
        ),
    }),
    foundBy: ['ordering: scopes keys to their tenant'],
  },
  {
    name: 'gives runs in any order',
    damage: changingLeases((envelopes) => envelopes.toReversed()),
    foundBy: ['ordering: keeps the order of commits where producers of a key take turns'],
  },
  {
    name: 'knows one policy for dead letters of a key',
    damage: changingRequests((request) => without(request, 'onKeyDeadLetter')),
    foundBy: [
      'ordering: parks what waits behind a dead letter where the policy says so',
      'ordering: skips a dead letter where the policy says so',
    ],
  },
  {
    name: 'looks at the same keys again and again',
    damage: (store) => ({
      async lease(request) {
        const { retryScheduled } = await store.statusCounts()
        return retryScheduled > 250 ? { envelopes: [], parked: 0, more: false } : store.lease(request)
      },
    }),
    foundBy: ['ordering: does not starve 50 healthy keys behind 300 that retry'],
  },
  {
    name: 'stays with the key it began with',
    damage: keepingOnly((envelopes, shared) => {
      const first = noted<string>(shared, 'first')
      if (first.size === 0) first.add(envelopes[0]?.message.orderingKey ?? '')
      const mine = envelopes.filter(({ message }) => first.has(message.orderingKey ?? ''))
      return first.has('long') ? mine : envelopes
    }),
    foundBy: ['ordering: gives every key its turn while one has a long backlog'],
  },
]
