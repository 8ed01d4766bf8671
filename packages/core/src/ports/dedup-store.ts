import type { SettleResult } from './lease.ts'
import type { RetentionRequest } from './message-query.ts'

/** What a claim found: free and now held, done before, or held elsewhere. */
export interface DedupClaim {
  /** `claimed`: this caller works; `completed`: work was done before; `inProgress`: another one works now. */
  readonly state: 'claimed' | 'completed' | 'inProgress'
  /** Fences completion and release. */
  readonly generation: string
}

/** A key that is held, by the generation of its claim. */
export interface DedupHold {
  /** The key. */
  readonly key: string
  /** Generation of the claim that holds it. */
  readonly generation: string
}

/**
 * Deduplication for consumers without an inbox row. A key is free, held under a lease, or completed; a key whose
 * lease has expired can be claimed again, under a new generation. The clock of the store decides.
 */
export interface DedupStore<TTransaction = unknown> {
  /**
   * Claims a key for `leaseMs`. Never waits for a transaction that completes the key: until it has ended the key is
   * in progress.
   *
   * @throws ArgumentError when the key or the lease make no sense.
   */
  claim(key: string, leaseMs: number): Promise<DedupClaim>
  /**
   * Records that the work of a claim is done, in the caller's transaction when one is passed. Can be told twice.
   * `leaseLost`: another claim holds the key, or it was given back.
   */
  complete(
    key: string,
    generation: string,
    options?: { readonly transaction?: TTransaction },
  ): Promise<SettleResult>
  /**
   * Runs work and completion in one transaction. When the claim was lost, or the work throws or is given up by the
   * signal, everything is taken back; what the work throws is thrown again.
   */
  completeInTransaction(
    held: DedupHold,
    work: (transaction: TTransaction) => Promise<void>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<SettleResult>
  /** Gives a claim back; does nothing when it was lost or completed. */
  release(key: string, generation: string): Promise<void>
  /** Forgets what was completed long ago, and claims whose lease expired as long ago. Answers how many keys. */
  runRetention(request?: Pick<RetentionRequest, 'dedupRetentionMs' | 'limit'>): Promise<number>
  /** Resolves when the store can be used; throws `StoreUnavailableError` otherwise. */
  probe(): Promise<void>
}
