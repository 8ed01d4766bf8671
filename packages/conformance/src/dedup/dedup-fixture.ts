import type { DedupStore } from '@litebus/core'
import type { ConformanceCase } from '../frame/suite.ts'
import type { CallersTransaction, StoreCapabilities } from '../store/store-fixture.ts'

/** What a dedup store brings to its suite: a fresh, empty storage. */
export interface DedupFixture<TTransaction = unknown> {
  /** The store. */
  readonly store: DedupStore<TTransaction>
  /** A second one on the same data, as another process would have it. */
  readonly another: () => Promise<DedupStore<TTransaction>>
  /** Opens a transaction of the caller. */
  readonly begin: () => Promise<CallersTransaction<TTransaction>>
  /** A handle of the caller that has no open transaction. */
  readonly withoutTransaction: () => Promise<TTransaction>
  /** Lets this much time pass for the store: advances an injected clock, or waits. */
  readonly pass: (ms: number) => Promise<void>
  /** A second store on the same data whose caller's clock is off by this much; with `separateClock`. */
  readonly skewed?: (offsetMs: number) => Promise<DedupStore<TTransaction>>
}

/** One case of the dedup suite. */
export type DedupCase = ConformanceCase<DedupFixture, StoreCapabilities>

/** Needed by cases that bring a transaction of their own. */
export const callersTransactions = {
  capability: 'callersTransactions',
  met: (capabilities: StoreCapabilities): boolean => capabilities.callersTransactions,
}
