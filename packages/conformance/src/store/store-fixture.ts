import type { MessageStore } from '@litebus/core'

/** The two stores of one storage. */
export interface StorePair<TTransaction = unknown> {
  /** Store of the inbox. */
  readonly inbox: MessageStore<TTransaction>
  /** Store of the outbox. */
  readonly outbox: MessageStore<TTransaction>
}

/** A transaction of the caller, ended by the case. */
export interface CallersTransaction<TTransaction = unknown> {
  /** The handle that the store takes. */
  readonly transaction: TTransaction
  /** Commits; rejects when it cannot. */
  commit(): Promise<void>
  /** Rolls back. */
  rollback(): Promise<void>
}

/** What a store brings to its suite: a fresh, empty storage. */
export interface StoreFixture<TTransaction = unknown> extends StorePair<TTransaction> {
  /** A second storage on the same data, as another process would have it. */
  another(): Promise<StorePair<TTransaction>>
  /** Opens a transaction of the caller. */
  begin(): Promise<CallersTransaction<TTransaction>>
  /** A handle of the caller that has no open transaction. */
  withoutTransaction(): Promise<TTransaction>
  /** Lets this much time pass for the store: advances an injected clock, or waits. */
  pass(ms: number): Promise<void>
  /** Monotonic milliseconds of the time that `pass` lets pass. */
  now(): number
  /** A second storage on the same data whose caller's clock is off by this much; with `separateClock`. */
  skewed?(offsetMs: number): Promise<StorePair<TTransaction>>
}

/** What a store declares about itself. */
export interface StoreCapabilities {
  /** Appends can join a transaction of the caller. */
  readonly callersTransactions: boolean
  /** The clock that decides leases is not the caller's. */
  readonly separateClock: boolean
}

/** How long the long-running cases run. */
export interface StoreSuiteOptions {
  /** Milliseconds of the randomized checker; 600 000 is its long mode. @defaultValue 3000 */
  readonly checkerMs?: number
  /** Rows that eight workers race over. @defaultValue 2000 */
  readonly raceRows?: number
  /** Seed of the random cases, printed when one fails. @defaultValue the time */
  readonly seed?: number
}
