import type { StoreFixture, StorePair } from '@litebus/conformance'
import type { Axis, Lease, LeasedEnvelope, LeaseRequest, MessageStore } from '@litebus/core'
import type { MemoryTransaction } from '../../src/index.ts'

/** A store of the suite. */
export type Store = MessageStore

/** What all wrapped stores of one fixture share. */
export interface Shared {
  /** Free for the fault to use. */
  readonly notes: Map<string, unknown>
  /** Envelopes that were leased and not settled, in every store of the fixture. */
  readonly leased: Map<string, LeasedEnvelope>
  /** Opens another pair, unbroken, on the same data. */
  another(): Promise<StorePair>
}

/** A store with one fault, and the cases that must find it. */
export interface BrokenStore {
  readonly name: string
  /** Replaces some operations of a store. */
  readonly damage: (store: Store, shared: Shared) => Partial<Store>
  /** Titles of the suite, each of which must fail. */
  readonly foundBy: readonly string[]
}

/** Wraps every store of a fixture. */
export function damaged(fixture: StoreFixture, broken: BrokenStore): StoreFixture {
  const shared: Shared = { notes: new Map(), leased: new Map(), another: () => fixture.another() }
  const wrap = (store: Store): Store => ({ ...store, ...broken.damage(store, shared) })
  const pair = ({ inbox, outbox }: StorePair): StorePair => ({ inbox: wrap(inbox), outbox: wrap(outbox) })
  return { ...fixture, ...pair(fixture), another: async () => pair(await fixture.another()) }
}

/** Changes the envelopes of every lease. */
export function changingLeases(
  change: (envelopes: readonly LeasedEnvelope[], store: Store, shared: Shared) => readonly LeasedEnvelope[],
): BrokenStore['damage'] {
  return (store, shared) => ({
    async lease(request) {
      const batch = await store.lease(request)
      return { ...batch, envelopes: change(batch.envelopes, store, shared) }
    },
  })
}

/** A set of the fixture, by name. */
export function noted<T>({ notes }: Shared, name: string): Set<T> {
  const known = notes.get(name)
  if (known !== undefined) return known as Set<T>
  const created = new Set<T>()
  notes.set(name, created)
  return created
}

/** A map of the fixture, by name. */
export function notedMap<T>({ notes }: Shared, name: string): Map<string, T> {
  const known = notes.get(name)
  if (known !== undefined) return known as Map<string, T>
  const created = new Map<string, T>()
  notes.set(name, created)
  return created
}

/** Ends a caller's transaction as a poisoned one would end. */
export function poison(transaction: unknown): void {
  ;(transaction as MemoryTransaction | undefined)?.rollback()
}

/** Tells a message of one axis from that of another. */
export function qualified(axis: Axis, { id }: Lease): string {
  return `${axis}:${id}`
}

/** A copy without one field. */
export function without<T extends object, K extends keyof T>(value: T, field: K): Omit<T, K> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field)) as Omit<T, K>
}

/** Changes the request of every lease. */
export function changingRequests(change: (request: LeaseRequest) => LeaseRequest): BrokenStore['damage'] {
  return (store) => ({ lease: (request) => store.lease(change(request)) })
}

/** Gives back what a fault does not want, as if it had not been leased. */
export function keepingOnly(
  choose: (envelopes: readonly LeasedEnvelope[], shared: Shared) => readonly LeasedEnvelope[],
): BrokenStore['damage'] {
  return (store: Store, shared) => ({
    async lease(request) {
      const batch = await store.lease(request)
      const kept = new Set(choose(batch.envelopes, shared))
      await store.release(batch.envelopes.filter((envelope) => !kept.has(envelope)).map(({ lease }) => lease))
      return { ...batch, envelopes: [...kept] }
    },
  })
}
