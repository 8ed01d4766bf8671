import type { Clock, LeaseBatch } from '@litebus/core'
import type { ExecutionWatch } from './execution-watch.ts'
import type { Heartbeat } from './heartbeat.ts'
import { HeldWork, type HeldLeases } from './held-work.ts'
import { startPass, type Pass } from './pass.ts'
import type { ResolvedProcessorOptions } from './processor-options.ts'
import type { RunQueue } from './run-queue.ts'

/** A pass that began, with what the store said. */
export interface LeasedPass {
  /** Counts its rows. */
  readonly pass: Pass
  /** What the store said. */
  readonly batch: LeaseBatch
}

/** What leasing works with. */
export interface LeasePassOptions<TTransaction> {
  /** Options of the processor. */
  readonly options: ResolvedProcessorOptions<TTransaction>
  /** Owner written into the leases. */
  readonly owner: string
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Rows held. */
  readonly held: HeldLeases
  /** Rows to run. */
  readonly queue: RunQueue
  /** Renews what is held. */
  readonly heartbeat: Heartbeat
  /** Ends what does not end by itself. */
  readonly watch: ExecutionWatch
}

/** Leases up to one batch and queues it. */
export async function leasePass<TTransaction>(
  { options, owner, stopping, held, queue, heartbeat, watch }: LeasePassOptions<TTransaction>,
  limit: number,
): Promise<LeasedPass> {
  const { store, clock, leaseMs, maxAttempts, maxPerKey, onKeyDeadLetter, tenants, contracts } = options
  const deadline = localDeadline(clock, leaseMs)
  const batch = await store.lease({
    owner,
    limit,
    leaseMs,
    maxAttempts,
    maxPerKey,
    onKeyDeadLetter,
    ...(tenants === undefined ? {} : { tenants }),
    ...(contracts === undefined ? {} : { contracts }),
  })
  const pass = startPass(batch.envelopes.length, batch.parked)
  for (const envelope of batch.envelopes) {
    const work = new HeldWork(envelope, pass, { deadline, stopping })
    held.add(work)
    queue.push(work)
  }
  heartbeat.ensureBeating()
  watch.ensureWatching()
  return { pass, batch }
}

/** Counted from before the call: the lease can only have begun later by the clock of the store. */
function localDeadline(clock: Clock, leaseMs: number): number {
  return clock.monotonic() + leaseMs
}
