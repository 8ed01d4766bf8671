import { createHandlerRegistry, resolveRetryProfile } from '@litebus/core'
import type { ConsumeContext } from './consume-context.ts'
import { consumeDelivery } from './consume-delivery.ts'
import { resolveConsumerOptions, type ConsumerOptions } from './consumer-options.ts'
import { createDeliveryPipeline } from './delivery-pipeline.ts'
import { createDeduplication, type Deduplication } from './deduplication.ts'
import { createDependencyOutage } from './dependency-outage.ts'
import { createHandoff } from './handoff.ts'
import { probeIntake } from './probe-intake.ts'
import type { IntakeState, PauseReason } from './intake.ts'
import type { SettlementCounts } from './ledger.ts'
import type { DeliveryStopReport, StopOptions } from './stop-report.ts'
import { createStoreOutage } from './store-outage.ts'
import { createTimeoutBudget } from './timeout-budget.ts'

/** Handles broker deliveries without an inbox. */
export interface Consumer extends AsyncDisposable {
  /** State of its subscription. */
  readonly state: IntakeState
  /**
   * Resolves while it consumes, for health checks.
   *
   * @throws TransportUnavailableError when it stands still, or has no subscription.
   */
  probe(): Promise<void>
  /** Deliveries by terminal. */
  counts(): SettlementCounts
  /** Why intake stands still now; empty when it does not. */
  readonly pausedBy: readonly PauseReason[]
  /** Subscribes. Resolves as well when the broker cannot be reached yet: it goes on trying. */
  start(): Promise<void>
  /**
   * Stops intake, lets handlers finish within the grace, aborts their signal, and leaves to redelivery what has not
   * ended within the budget. Every call gets the same report; a later one can only bring deadline and grace forward.
   */
  stop(options?: StopOptions): Promise<DeliveryStopReport>
}

/**
 * Builds a consumer.
 *
 * @throws OptionsError naming every fault of options, handlers and retry profile.
 */
export function createConsumer<TTransaction = unknown>(given: ConsumerOptions<TTransaction>): Consumer {
  // Store and handlers agree on the type of the transaction; nothing in between looks at one.
  const options = resolveConsumerOptions(given as unknown as ConsumerOptions)
  const handlers = createHandlerRegistry(options.handlers)
  const pipeline = createDeliveryPipeline({
    ...options,
    maxInFlight: options.concurrency,
    preserveOrder: options.retry.ordering === 'preserve',
    handle: (delivery, takenAtMs) => consumeDelivery(delivery, { ...context, takenAtMs }),
  })
  const { intake, stopping, forcing, budget } = pipeline
  const handoff = createHandoff({ ...options, intake, stopping, forcing })
  const timeouts =
    options.timeoutBudget === undefined
      ? undefined
      : createTimeoutBudget(options.timeoutBudget, options.clock)
  const outage =
    timeouts === undefined
      ? undefined
      : createDependencyOutage({ ...options, intake, stopping, budget: timeouts })
  const deduplication = (): Deduplication | undefined => {
    const { dedup } = options
    if (dedup === undefined) return undefined
    const storeOutage = createStoreOutage({ ...options, probe: () => dedup.store.probe(), intake, stopping })
    return createDeduplication({ options, dedup, handlers, outage: storeOutage, stopping })
  }
  const context: Omit<ConsumeContext, 'takenAtMs'> = {
    options,
    retry: resolveRetryProfile(options.retry),
    handlers,
    dedup: deduplication(),
    timeouts,
    outage,
    handoff,
    stopping,
    forcing,
    budget,
  }
  return {
    get state() {
      return intake.state
    },
    probe: () => probeIntake(intake, options.source),
    counts: () => pipeline.counts(),
    get pausedBy() {
      return intake.reasons
    },
    start: () => pipeline.start(),
    stop: (stop) => pipeline.stop(stop),
    async [Symbol.asyncDispose]() {
      await pipeline.stop()
    },
  }
}
