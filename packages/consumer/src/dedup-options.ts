import {
  definedOptions,
  optionFaults,
  type AnyMessageHandler,
  type DedupStore,
  type OptionChecks,
  type OptionShape,
  type Transport,
} from '@litebus/core'

/** Deduplication of a consumer. */
export interface ConsumerDedupOptions<TTransaction = unknown> {
  /** Keeps what was done, by scope and message id. */
  readonly store: DedupStore<TTransaction>
  /**
   * Tells apart what different readers have done, where they share a store: a message that comes to two of them is
   * handled by both. All instances of one reader have the same, also after a restart.
   * @defaultValue the name that the transport gives the reader: virtual host and queue, or consumer group and topic
   */
  readonly scope?: string
  /**
   * How long one run of a handler keeps others from the same message, in milliseconds; at least a second longer than executionBudgetMs.
   * @defaultValue twice executionBudgetMs
   */
  readonly leaseMs?: number
}

/** The lease runs from the claim: the store has to have time to answer it. */
const claimMarginMs = 1000

const dedupShape: OptionShape<ConsumerDedupOptions> = {
  store: { members: ['claim', 'complete', 'completeInTransaction', 'release', 'probe'] },
  scope: 'text?',
  leaseMs: 'any?',
}

/** The defaults, or nothing where no store is given. */
export function resolveDedup(
  given: ConsumerDedupOptions | undefined,
  {
    transport,
    source,
    executionBudgetMs,
  }: {
    readonly transport: Pick<Transport, 'system' | 'readerOf'>
    readonly source: string
    readonly executionBudgetMs: number
  },
): Required<ConsumerDedupOptions> | undefined {
  if (given === undefined) return undefined
  const scope = transport.readerOf?.(source) ?? JSON.stringify([transport.system, source])
  return { leaseMs: 2 * executionBudgetMs, scope, ...definedOptions(given) }
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
    checks.text('dedup.scope', dedup.scope)
    checks.duration('dedup.leaseMs', dedup.leaseMs, { min: 1 })
    checks.that(
      !(dedup.leaseMs < executionBudgetMs + claimMarginMs),
      `expected dedup.leaseMs above executionBudgetMs by at least ${String(claimMarginMs)} ms (${String(executionBudgetMs + claimMarginMs)}), found ${String(dedup.leaseMs)}: another consumer would take the message while its handler runs`,
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
