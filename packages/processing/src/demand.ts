/** How many rows may wait for a worker before the next lease is asked for. */
export interface Demand {
  /** Rows that may still wait when the next lease is asked for. */
  readonly lowWater: number
  /** Tells how long the rows of one pass took. */
  observe(rows: number, durationMs: number): void
}

/** How far ahead rows are leased: about the round trip of a lease. Further would hoard rows of slow handlers. */
const aheadMs = 20

/**
 * Leases ahead by the speed of the handlers: fast ones find the next rows waiting, and slow ones leave rows to
 * other instances. Never fewer than one round of workers, never more than a batch.
 */
export function createDemand(options: { readonly concurrency: number; readonly batchSize: number }): Demand {
  const least = Math.min(options.concurrency, options.batchSize)
  let rowsPerMs = 0
  return {
    get lowWater() {
      return Math.max(least, Math.min(options.batchSize, Math.floor(rowsPerMs * aheadMs)))
    },
    observe(rows, durationMs) {
      const rate = rows / Math.max(durationMs, 0.01)
      rowsPerMs = rowsPerMs === 0 ? rate : rowsPerMs * 0.7 + rate * 0.3
    },
  }
}
