import {
  errorType,
  idOfDelivery,
  inTime,
  isLiteBusError,
  sleep,
  StoreUnavailableError,
  type DedupClaim,
  type DedupHold,
  type DedupStore,
  type HandlerRegistry,
} from '@litebus/core'
import type { ResolvedConsumerOptions } from './consumer-options.ts'
import type { ConsumerDedupOptions } from './dedup-options.ts'
import { runHandler, type HandlerOutcome, type HandlerRun, type InTransaction } from './run-handler.ts'
import type { StoreOutage } from './store-outage.ts'
import { answerMs } from './until-probed.ts'

/** Keeps the handlers of a consumer from running twice for one message, as far as its store reaches. */
export interface Deduplication {
  /**
   * Runs the handler of a message once its key is claimed. While another one works on the message, or the store is out
   * of reach, the delivery is held and no attempt is spent; `heldTooLong` when it may be held no longer.
   */
  run(run: HandlerRun, heldUntil: number): Promise<HandlerOutcome>
}

/** What deduplication works with. */
export interface DeduplicationOptions {
  /** Options of the consumer. */
  readonly options: ResolvedConsumerOptions
  /** Store and lease. */
  readonly dedup: Required<ConsumerDedupOptions>
  /** Handlers by contract. */
  readonly handlers: HandlerRegistry<unknown>
  /** What is known about the store. */
  readonly outage: StoreOutage
  /** Aborts when the consumer stops. */
  readonly stopping: AbortSignal
}

const firstRepeatMs = 50

/** Builds it over the store of the options. */
export function createDeduplication(parts: DeduplicationOptions): Deduplication {
  const { options, handlers, outage, stopping } = parts
  const { store, leaseMs, scope } = parts.dedup
  const { source, clock, logger } = options
  /** A claim that is answered later would leave its handler less than the rest of the lease. */
  const claimBudgetMs = Math.min(answerMs, leaseMs - options.executionBudgetMs)

  const answered = <T>(call: Promise<T>, limitMs: number): Promise<T> =>
    inTime(call, { clock, limitMs, onLate: unanswered })

  /** Without it, duplicates wait until the lease ends. */
  const release = async ({ key, generation }: DedupHold): Promise<void> => {
    try {
      await answered(store.release(key, generation), options.settlementBudgetMs)
    } catch (error) {
      logger.warn('a claim could not be given back; it ends with its lease', {
        source,
        error: errorType(error),
      })
    }
  }
  /** The work is done, and running it again would not make it more so: without an answer it counts as done. */
  const record = async ({ key, generation }: DedupHold): Promise<void> => {
    const deadline = clock.monotonic() + options.settlementBudgetMs
    for (let waitMs = firstRepeatMs; ; waitMs *= 2) {
      try {
        const result = await answered(store.complete(key, generation), deadline - clock.monotonic())
        if (result === 'leaseLost') logger.warn('another consumer claimed a message at work', { source })
        return
      } catch (error) {
        if (clock.monotonic() + waitMs >= deadline) {
          logger.error('finished work could not be recorded: a duplicate of it will run again', {
            source,
            error: errorType(error),
          })
          return
        }
      }
      await sleep(clock, waitMs)
    }
  }
  const runClaimed = async (run: HandlerRun, held: DedupHold): Promise<HandlerOutcome> => {
    const transaction = { completed: false }
    const inTransaction: InTransaction = async (work, signal) => {
      const outcome = await completeWith(store, held, { work, signal })
      transaction.completed = outcome.kind === 'succeeded'
      return outcome
    }
    const outcome = await runHandler({ ...run, inTransaction }, handlers, options)
    if (outcome.kind !== 'succeeded') await release(held)
    else if (!transaction.completed) await record(held)
    return outcome
  }
  const claim = async (key: string): Promise<DedupClaim> => {
    const claiming = store.claim(key, leaseMs)
    let late = false
    void claiming.then(
      ({ state, generation }) => (late && state === 'claimed' ? release({ key, generation }) : undefined),
      () => undefined,
    )
    try {
      return await answered(claiming, claimBudgetMs)
    } catch (error) {
      // It may still be granted: nobody would work on it, and everybody would wait for it.
      late = true
      throw error
    }
  }
  const decide = async (
    run: HandlerRun,
    givenUp: AbortSignal,
  ): Promise<HandlerOutcome | 'unavailable' | 'deferred'> => {
    const key = idOfDelivery(scope, run.messageId)
    try {
      const { state, generation } = await claim(key)
      outage.ended()
      if (state === 'completed') return { kind: 'duplicate' }
      if (state === 'inProgress') return 'deferred'
      const outcome = await runClaimed(run, { key, generation })
      return outcome.kind === 'undecided' ? 'deferred' : outcome
    } catch (error) {
      // Whatever it says, it is the store that failed: to go back for it would spend the deliveries of the message.
      if (!isLiteBusError(error, 'STORE_UNAVAILABLE')) {
        logger.error('a claim failed unexpectedly; the delivery is held', { source, error: errorType(error) })
      }
      // A claim of what was given up fails late: by then the store may be back, and nobody would be left to say so.
      if (!givenUp.aborted) outage.began()
      return 'unavailable'
    }
  }
  return {
    async run(run, heldUntil) {
      const { givenUp } = outage
      const mustGoBack = (): boolean => stopping.aborted || givenUp.aborted
      for (let attempt = 1; ; attempt++) {
        const outcome = await decide(run, givenUp)
        if (typeof outcome !== 'string') return outcome
        const leftMs = heldUntil - clock.monotonic()
        if (mustGoBack()) return { kind: 'cancelled' }
        if (leftMs <= 0 && outcome === 'unavailable') {
          outage.giveUp()
          return { kind: 'cancelled' }
        }
        if (leftMs <= 0) return { kind: 'heldTooLong' }
        await outage.wait({ attempt, leftMs, givenUp })
        if (mustGoBack()) return { kind: 'cancelled' }
      }
    },
  }
}

function unanswered(): StoreUnavailableError {
  return new StoreUnavailableError('expected the dedup store to answer in time')
}

/** Rolls back what a handler did that asks for a retry or rejects; never seen outside. */
class RolledBack extends Error {}

async function completeWith(
  store: Pick<DedupStore, 'completeInTransaction'>,
  held: DedupHold,
  { work, signal }: { readonly work: Parameters<InTransaction>[0]; readonly signal: AbortSignal },
): Promise<HandlerOutcome> {
  const progress: { at: 'beginning' | 'work' | 'commit'; outcome?: HandlerOutcome } = { at: 'beginning' }
  const runInside = async (transaction: unknown): Promise<void> => {
    progress.at = 'work'
    progress.outcome = await work(transaction)
    if (progress.outcome.kind !== 'succeeded') throw new RolledBack()
    progress.at = 'commit'
  }
  try {
    const result = await store.completeInTransaction(held, runInside, { signal })
    return result === 'applied' ? { kind: 'succeeded' } : { kind: 'undecided' }
  } catch (error) {
    if (error instanceof RolledBack && progress.outcome !== undefined) return progress.outcome
    // The store failed, not the handler; whether anything was committed is what the next claim finds.
    if (progress.at !== 'work' && isLiteBusError(error, 'STORE_UNAVAILABLE')) return { kind: 'undecided' }
    throw error
  }
}
