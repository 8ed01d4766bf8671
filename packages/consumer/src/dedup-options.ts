import {
  definedOptions,
  optionFaults,
  type AnyMessageHandler,
  type DedupStore,
  type OptionChecks,
  type OptionShape,
} from '@litebus/core'

/** Deduplication of a consumer. */
export interface ConsumerDedupOptions<TTransaction = unknown> {
  /** Keeps what was done, by source and message id. */
  readonly store: DedupStore<TTransaction>
  /**
   * How long one run of a handler keeps others from the same message, in milliseconds; longer than executionBudgetMs.
   * @defaultValue twice executionBudgetMs
   */
  readonly leaseMs?: number
}

const dedupShape: OptionShape<ConsumerDedupOptions> = {
  store: { members: ['claim', 'complete', 'completeInTransaction', 'release', 'probe'] },
  leaseMs: 'any?',
}

/** The default of the lease, or nothing where no store is given. */
export function resolveDedup(
  given: ConsumerDedupOptions | undefined,
  executionBudgetMs: number,
): Required<ConsumerDedupOptions> | undefined {
  return given === undefined ? undefined : { leaseMs: 2 * executionBudgetMs, ...definedOptions(given) }
}

/** Names every fault, transactional handlers without a store among them. */
export function checkDedup(
  checks: OptionChecks,
  {
    dedup,
    handlers,
    executionBudgetMs,
  }: {
    readonly dedup: Required<ConsumerDedupOptions> | undefined
    readonly handlers: readonly AnyMessageHandler[]
    readonly executionBudgetMs: number
  },
): void {
  if (dedup !== undefined) {
    checks.faults.push(...optionFaults('dedup.', dedup, { shape: dedupShape }))
    checks.duration('dedup.leaseMs', dedup.leaseMs, { min: 1 })
    checks.that(
      dedup.leaseMs > executionBudgetMs,
      `expected dedup.leaseMs above executionBudgetMs (${String(executionBudgetMs)}), found ${String(dedup.leaseMs)}: another consumer would take the message while its handler runs`,
    )
    return
  }
  for (const { contract, transactional } of handlers) {
    checks.that(
      transactional !== true,
      `expected handlers that are not transactional, found one of ${contract.name}: give the consumer dedup, whose store has the transaction that completes a message, or put an inbox behind an ingress`,
    )
  }
}
