/** What a claim found: free and now held, done before, or held elsewhere. */
export interface DedupClaim {
  /** `claimed`: this caller works; `completed`: work was done before; `inProgress`: another one works now. */
  readonly state: 'claimed' | 'completed' | 'inProgress'
  /** Fences completion and release. */
  readonly generation: string
}

/** Deduplication for consumers without an inbox row. */
export interface DedupStore<TTransaction = unknown> {
  /** Claims a key for `leaseMs`. */
  claim(key: string, leaseMs: number): Promise<DedupClaim>
  /** Records that the work of a claim is done, in the caller's transaction when one is passed. */
  complete(
    key: string,
    generation: string,
    options?: { readonly transaction?: TTransaction },
  ): Promise<'applied' | 'leaseLost'>
  /** Gives a claim back. */
  release(key: string, generation: string): Promise<void>
}
