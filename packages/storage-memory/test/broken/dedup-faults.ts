import type { DedupFixture } from '@litebus/conformance'
import type { DedupClaim, DedupStore } from '@litebus/core'

/** A dedup store with one fault, and the cases that must find it. */
export interface BrokenDedup {
  readonly name: string
  /** Replaces some operations of a store; `seen` is shared by all stores of a fixture. */
  readonly damage: (store: DedupStore, seen: Map<string, DedupClaim>) => Partial<DedupStore>
  /** Titles of the suite, each of which must fail. */
  readonly foundBy: readonly string[]
}

/** Wraps every store of a fixture. */
export function damagedDedup(fixture: DedupFixture, { damage }: BrokenDedup): DedupFixture {
  const seen = new Map<string, DedupClaim>()
  const wrap = (store: DedupStore): DedupStore => ({ ...store, ...damage(store, seen) })
  return { ...fixture, store: wrap(fixture.store), another: async () => wrap(await fixture.another()) }
}

/** Every one of them. */
export const dedupFaults: readonly BrokenDedup[] = [
  {
    name: 'gives every key to everybody',
    damage: (store) => ({
      claim: async (key, leaseMs) => ({ ...(await store.claim(key, leaseMs)), state: 'claimed' }),
    }),
    foundBy: [
      'claims: gives a free key to one, and tells every other one that it is in progress',
      'claims: gives a key to exactly one of many that race for it',
      'claims: gives an expired key to exactly one of many that race for it, under a new generation',
      'completions: last, whatever the lease was, for everybody',
    ],
  },
  {
    name: 'compares keys without case',
    damage: (store) => ({ claim: (key, leaseMs) => store.claim(key.toLowerCase(), leaseMs) }),
    foundBy: ['claims: keeps keys apart, to the last character'],
  },
  {
    name: 'lets a lease end far too early',
    damage: (store) => ({ claim: (key, leaseMs) => store.claim(key, leaseMs / 1000) }),
    foundBy: ['retention: forgets claims that nobody has taken up, and none that is held'],
  },
  {
    name: 'never lets a lease end',
    damage: (store) => ({
      claim: (key, leaseMs) => store.claim(key, Math.max(leaseMs, 60_000)),
    }),
    foundBy: [
      'claims: gives an expired key to exactly one of many that race for it, under a new generation',
      'claims: leaves a key alone that another one has claimed meanwhile',
    ],
  },
  {
    name: 'counts all generations as one',
    damage: (store, seen) => ({
      async claim(key, leaseMs) {
        const claim = await store.claim(key, leaseMs)
        seen.set(key, claim)
        return { ...claim, generation: '1' }
      },
      complete: (key, generation, options) =>
        store.complete(key, seen.get(key)?.generation ?? generation, options),
      release: (key, generation) => store.release(key, seen.get(key)?.generation ?? generation),
    }),
    foundBy: [
      'claims: frees a key at once that is given back, under a new generation',
      'claims: leaves a key alone that another one has claimed meanwhile',
      'completions: of a claim that another one has taken over are refused, and change nothing',
    ],
  },
  {
    name: 'gives nothing back',
    damage: () => ({ release: () => Promise.resolve() }),
    foundBy: [
      'claims: frees a key at once that is given back, under a new generation',
      'completions: of a claim that was given back are refused',
    ],
  },
  {
    name: 'takes any key and lease',
    damage: (store) => ({
      claim: (key, leaseMs) =>
        key === '' || !(leaseMs > 0)
          ? Promise.resolve({ state: 'claimed', generation: '1' })
          : store.claim(key, leaseMs),
    }),
    foundBy: ['claims: refuses keys and leases that make no sense'],
  },
  {
    name: 'says that every completion applied',
    damage: (store) => ({
      async complete(key, generation, options) {
        await store.complete(key, generation, options)
        return 'applied'
      },
    }),
    foundBy: [
      'completions: of a claim that another one has taken over are refused, and change nothing',
      'completions: of a claim that was given back are refused',
    ],
  },
  {
    name: 'forgets completions',
    damage: (store) => ({
      async complete(key, generation) {
        await store.release(key, generation)
        return 'applied'
      },
    }),
    foundBy: [
      'completions: last, whatever the lease was, for everybody',
      'completions: can be told twice, and cannot be given back',
      'completions: stand when the lease has expired and nobody else has claimed the key',
      'retention: forgets what was completed long enough ago, and nothing younger',
    ],
  },
  {
    name: 'refuses a completion that comes again',
    damage: (store, seen) => ({
      async complete(key, generation, options) {
        if (seen.has(`${key}/${generation}`)) return 'leaseLost'
        seen.set(`${key}/${generation}`, { state: 'completed', generation })
        return store.complete(key, generation, options)
      },
    }),
    foundBy: ['completions: can be told twice, and cannot be given back'],
  },
  {
    name: "completes outside of the caller's transaction",
    damage: (store) => ({ complete: (key, generation) => store.complete(key, generation) }),
    foundBy: [
      "transactions: complete with the caller's commit, and not with a rollback",
      'transactions: that complete a key make nobody wait, and keep it although its lease expires',
      'transactions: of the caller that have ended, or never began, are refused and complete nothing',
      'transactions: of the store commit what the work did together with the completion',
      'transactions: of the store take everything back when the work throws, and rethrow what it threw',
      'transactions: of the store take everything back when the claim was lost meanwhile',
      'transactions: of the store take everything back when the work is given up, and wait for it no longer',
    ],
  },
  {
    name: 'waits for work that was given up',
    damage: (store) => ({
      completeInTransaction: (held, work) => store.completeInTransaction(held, work),
    }),
    foundBy: [
      'transactions: of the store take everything back when the work is given up, and wait for it no longer',
    ],
  },
  {
    name: 'forgets everything at a retention',
    damage: (store) => ({
      runRetention: (request) => store.runRetention({ ...request, dedupRetentionMs: 0 }),
    }),
    foundBy: ['retention: forgets what was completed long enough ago, and nothing younger'],
  },
  {
    name: 'never forgets anything',
    damage: () => ({ runRetention: () => Promise.resolve(0) }),
    foundBy: [
      'retention: forgets claims that nobody has taken up, and none that is held',
      'retention: forgets at most as many as it is asked to, and refuses what makes no sense',
    ],
  },
]
