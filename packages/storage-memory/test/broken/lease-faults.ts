import { isLiteBusError, type Lease, type LeasedEnvelope } from '@litebus/core'
import {
  changingLeases,
  changingRequests,
  keepingOnly,
  notedMap,
  qualified,
  without,
  type BrokenStore,
} from './broken-store.ts'

/** Stores that lease wrongly. */
export const leaseFaults: readonly BrokenStore[] = [
  {
    name: 'ignores the limit',
    damage: changingRequests((request) =>
      request.limit > 0 && request.limit < 100 ? { ...request, limit: 100 } : request,
    ),
    foundBy: ['lease: gives at most the limit, oldest first, and tells that there is more'],
  },
  {
    name: 'gives what another worker holds',
    damage(store, shared) {
      return {
        async lease(request) {
          const batch = await store.lease(request)
          const again = [...shared.leased.values()].filter(({ lease }) => lease.owner !== request.owner)
          for (const envelope of batch.envelopes)
            shared.leased.set(qualified(store.axis, envelope.lease), envelope)
          return { ...batch, envelopes: [...batch.envelopes, ...again.slice(0, 5)] }
        },
        async settle(outcomes, options) {
          const results = await store.settle(outcomes, options)
          for (const { lease } of outcomes) shared.leased.delete(qualified(store.axis, lease))
          return results
        },
      }
    },
    foundBy: [
      'lease: gives a message to nobody else while its lease lasts',
      'lease: gives every message once to workers that race',
      'randomized checker: holds with few keys, late commits, retries in the middle of a key, and workers that race',
      'randomized checker: holds with many keys',
      'randomized checker: holds while workers die and leases expire',
    ],
  },
  {
    name: 'counts no attempts',
    damage: changingLeases((envelopes) => envelopes.map((envelope) => ({ ...envelope, attempt: 1 }))),
    foundBy: [
      'lease: names owner, sequence and generation, and counts the attempt',
      'suspects: gives an expired message again as a suspect, with the next attempt',
      'suspects: trusts a suspect again once it has failed without ending its process',
      'settle: makes a retry due after its delay, not before',
      'settle: keeps the history of failed attempts and the time of the first, at most the last 20',
    ],
  },
  {
    name: 'fences nothing',
    damage(store, shared) {
      const latest = notedMap<Lease>(shared, 'latest')
      const real = (lease: Lease): Lease => latest.get(qualified(store.axis, lease)) ?? lease
      return {
        async lease(request) {
          const batch = await store.lease(request)
          for (const { lease } of batch.envelopes) latest.set(qualified(store.axis, lease), lease)
          const envelopes = batch.envelopes.map((envelope) => ({
            ...envelope,
            lease: { ...envelope.lease, generation: '1' },
          }))
          return { ...batch, envelopes }
        },
        settle: (outcomes, options) =>
          store.settle(
            outcomes.map((outcome) => ({ ...outcome, lease: real(outcome.lease) })),
            options,
          ),
        renew: (leases, leaseMs) => store.renew(leases.map(real), leaseMs),
        release: (leases, options) => store.release(leases.map(real), options),
      }
    },
    foundBy: [
      'lease: never repeats a generation of a message, whatever became of it between',
      'fencing: refuses another owner and another generation',
      'fencing: refuses a stale generation of the same owner after the message was leased again',
      'fencing: does not let a lease from before a requeue settle the new life of the message',
      'renewal: does not renew a lease that somebody else has taken over',
    ],
  },
  {
    name: 'ignores the tenants of a request',
    damage: changingRequests((request) => without(request, 'tenants')),
    foundBy: [
      'lease: takes only the tenants that were asked for, the empty string being the unscoped partition',
    ],
  },
  {
    name: 'ignores the contracts of a request',
    damage: changingRequests((request) => without(request, 'contracts')),
    foundBy: ['lease: takes only the contracts that were asked for, and leaves the rest to others'],
  },
  {
    name: 'answers any request',
    damage: (store) => ({
      async lease(request) {
        try {
          return await store.lease(request)
        } catch (error) {
          if (!isLiteBusError(error, 'ARGUMENT_INVALID')) throw error
          return { envelopes: [], parked: 0, more: false }
        }
      },
    }),
    foundBy: ['lease: refuses a request that makes no sense'],
  },
  {
    name: 'prefers what has failed',
    damage: keepingOnly((envelopes) => {
      const retries = envelopes.filter(({ attempt }) => attempt > 1)
      return retries.length > 0 ? retries : envelopes
    }),
    foundBy: ['lease: does not starve new messages behind many retries'],
  },
  {
    name: 'renews nothing, and says it did',
    damage: () => ({ renew: (leases) => Promise.resolve(leases.map(() => 'renewed' as const)) }),
    foundBy: ['renewal: keeps a lease beyond its first time', 'renewal: answers slot by slot what was lost'],
  },
  {
    name: 'renews everything that was ever leased',
    damage(store, shared) {
      return {
        async lease(request) {
          const batch = await store.lease(request)
          for (const envelope of batch.envelopes)
            shared.leased.set(qualified(store.axis, envelope.lease), envelope)
          return batch
        },
        async renew(leases, leaseMs) {
          await store.renew(
            [...shared.leased.values()].map(({ lease }) => lease),
            leaseMs,
          )
          return store.renew(leases, leaseMs)
        },
      }
    },
    foundBy: ['renewal: extends only the leases that it names'],
  },
  {
    name: 'leases suspects among the others',
    damage(_store, shared) {
      return {
        async lease(request) {
          const taken: LeasedEnvelope[] = []
          for (let round = 0; round < 60; round += 1) {
            const fresh = (await shared.another())[_store.axis]
            const { envelopes } = await fresh.lease(request)
            taken.push(...envelopes)
          }
          return { envelopes: taken, parked: 0, more: false }
        },
      }
    },
    foundBy: [
      'suspects: leases a suspect alone, and nothing on either axis while it runs',
      'suspects: lets a suspect wait until every held lease has ended',
      'suspects: costs every other message of a batch at most one attempt when one ends its process again and again',
    ],
  },
  {
    name: 'takes a released suspect for harmless',
    damage: changingLeases((envelopes) => envelopes.map((envelope) => ({ ...envelope, suspect: false }))),
    foundBy: ['suspects: keeps a released suspect apart, because it has not run to an end'],
  },
  {
    name: 'never parks what ends its process',
    damage: changingRequests((request) => ({
      ...request,
      maxAttempts: Math.max(request.maxAttempts, 0) * 1000,
    })),
    foundBy: ['suspects: parks an expired message without attempts left when it would be leased'],
  },
  {
    name: 'skips what commits below a cursor',
    damage(store, shared) {
      const highest = notedMap<number>(shared, 'highest')
      return {
        async lease(request) {
          const batch = await store.lease(request)
          const limit = highest.get(store.axis) ?? 0
          const sequences = batch.envelopes.map(({ lease }) => Number(lease.sequence))
          highest.set(store.axis, Math.max(limit, ...sequences))
          const envelopes = batch.envelopes.filter(
            ({ lease, attempt }) => attempt > 1 || Number(lease.sequence) > limit,
          )
          return { ...batch, envelopes }
        },
      }
    },
    foundBy: [
      'ordering: does not skip what commits late',
      'ordering: keeps happens-before within a key while its producers do not wait for each other',
    ],
  },
]
