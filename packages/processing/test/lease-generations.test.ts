import { describe, expect, it } from '@jest/globals'
import type { Lease } from '@litebus/core'
import type { MemoryTransaction } from '@litebus/storage-memory'
import type { ProcessorOptions } from '../src/index.ts'
import { bench, succeed, type Bench } from './arrange.ts'

type Store = ProcessorOptions<MemoryTransaction>['store']

/** A store that gives all rows of one lease call one generation, as one that takes it from a statement does. */
function sharingGenerations(store: Store): Store {
  const real = new Map<string, string>()
  const key = ({ sequence, generation }: Lease): string => `${sequence}:${generation}`
  const own = (lease: Lease): Lease => ({ ...lease, generation: real.get(key(lease)) ?? lease.generation })
  let calls = 0
  return {
    ...store,
    async lease(request) {
      const batch = await store.lease(request)
      calls += 1
      const envelopes = batch.envelopes.map((envelope) => {
        const lease = { ...envelope.lease, generation: `shared-${String(calls)}` }
        real.set(key(lease), envelope.lease.generation)
        return { ...envelope, lease }
      })
      return { ...batch, envelopes }
    },
    renew: (leases, leaseMs) => store.renew(leases.map(own), leaseMs),
    settle: (outcomes) =>
      store.settle(outcomes.map((outcome) => ({ ...outcome, lease: own(outcome.lease) }))),
    release: (leases, options) => store.release(leases.map(own), options),
  }
}

describe.each<readonly [string, (bench: Bench) => Store]>([
  ['of its own for each row', ({ storage }) => storage.inbox],
  ['for each lease call', ({ storage }) => sharingGenerations(storage.inbox)],
])('with a store that gives a generation %s', (_which, storeOf) => {
  it('every row is renewed, settled and released as itself', async () => {
    const site = bench()
    const { add, clock, processor, stateOf } = site
    const ids = await add(undefined, undefined, undefined, 'k', 'k', undefined)
    const renewed: string[] = []
    const given = storeOf(site)
    const store: Store = {
      ...given,
      renew(leases, leaseMs) {
        renewed.push(...leases.map(({ id }) => id))
        return given.renew(leases, leaseMs)
      },
    }
    const subject = processor(
      ({ message }) => {
        const place = ids.indexOf(message.id)
        if (place === 0) return Promise.reject(new Error('x'))
        if (place === 1) return { kind: 'rejected', failure: { category: 'REJECTED', code: 'NO' } }
        if (place === 2) return { kind: 'unavailable', delayMs: 60_000 }
        // Longer than a lease: it stands only if it is renewed.
        if (place === 5)
          return new Promise((resolve) =>
            clock.schedule(5000, () => {
              resolve(succeed())
            }),
          )
        return succeed()
      },
      { store, leaseMs: 1000, heartbeatMs: 400 },
    )
    const pass = subject.processPending()
    await clock.advance(6000)
    expect(renewed.filter((id) => id === ids[5]).length).toBeGreaterThanOrEqual(10)
    expect(await pass).toEqual({
      leased: 6,
      succeeded: 3,
      failed: 1,
      deadLettered: 1,
      released: 1,
      leaseLost: 0,
      persistFailed: 0,
    })
    expect(await Promise.all(ids.map(stateOf))).toEqual([
      'retryScheduled',
      'parked',
      'awaiting',
      'succeeded',
      'succeeded',
      'succeeded',
    ])
    expect((await subject.stop()).graceful).toBe(true)
  })
})
