/** When the next batch is leased. */
export interface Demand {
  /**
   * Whether another batch is wanted and there is room for it: `waiting` rows wait for a worker, `running` ones are
   * dispatched, and what is `held` besides has ended and waits for the store to be told.
   */
  hasRoom(waiting: number, running: number, held: number): boolean
  /** Tells how long the rows of one pass took. */
  observe(rows: number, durationMs: number): void
}

/** How far ahead rows are leased: about the round trip of a lease. Further would hoard rows of slow handlers. */
const aheadMs = 20

/** Batches whose rows have not ended, and again whose rows have: leasing, dispatching and settling go side by side. */
const batches = 3

/**
 * Leases ahead by the speed of the handlers: fast ones find the next rows waiting, and slow ones leave rows to
 * other instances. Never fewer than one round of workers, never more than a batch. What has ended does not keep the
 * next rows from being leased, as long as the store is told of it: a relay would stand still for each settlement.
 */
export function createDemand({
  concurrency,
  batchSize,
}: {
  readonly concurrency: number
  readonly batchSize: number
}): Demand {
  const least = Math.min(concurrency, batchSize)
  const mostUnfinished = Math.max(batches * batchSize, concurrency + batchSize)
  const mostFinished = batches * batchSize
  let rowsPerMs = 0
  return {
    hasRoom(waiting, running, held) {
      const lowWater = Math.max(least, Math.min(batchSize, Math.floor(rowsPerMs * aheadMs)))
      const unfinished = waiting + running
      return (
        waiting <= lowWater && unfinished + batchSize <= mostUnfinished && held - unfinished < mostFinished
      )
    },
    observe(rows, durationMs) {
      const rate = rows / Math.max(durationMs, 0.01)
      rowsPerMs = rowsPerMs === 0 ? rate : rowsPerMs * 0.7 + rate * 0.3
    },
  }
}
