/** What one pass did: leased rows and what became of each. */
export interface PassSummary {
  /** Messages leased. */
  readonly leased: number
  /** Completed, or published. */
  readonly succeeded: number
  /** Failed, another attempt is scheduled. */
  readonly failed: number
  /** Parked, those included that the lease call parked. */
  readonly deadLettered: number
  /** Given back with their attempt: stopped, not started, or destination unavailable. */
  readonly released: number
  /** Left to a new owner. */
  readonly leaseLost: number
  /** Done, but the store could not be told; the lease runs out and the message is dispatched again. */
  readonly persistFailed: number
}

/** Counts what becomes of the rows of one lease and tells when the last one is done. */
export interface Pass {
  /** Counts so far. */
  readonly counts: { -readonly [K in keyof PassSummary]: PassSummary[K] }
  /** Counts one row as done. */
  done(result: keyof Omit<PassSummary, 'leased'>): void
  /** Resolves when every row is done. */
  readonly finished: Promise<PassSummary>
}

/** Starts a pass over `leased` rows. */
export function startPass(leased: number, parked: number): Pass {
  const counts = {
    leased,
    succeeded: 0,
    failed: 0,
    deadLettered: parked,
    released: 0,
    leaseLost: 0,
    persistFailed: 0,
  }
  const { promise, resolve } = Promise.withResolvers<PassSummary>()
  let left = leased
  if (left === 0) resolve(counts)
  return {
    counts,
    finished: promise,
    done(result) {
      counts[result] += 1
      left -= 1
      if (left === 0) resolve(counts)
    },
  }
}
