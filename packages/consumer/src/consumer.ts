import { createHandlerRegistry } from '@litebus/core'
import { consumeDelivery, type ConsumeContext } from './consume-delivery.ts'
import { resolveConsumerOptions, type ConsumerOptions } from './consumer-options.ts'
import { createDeliveryPipeline, type DeliveryStopReport } from './delivery-pipeline.ts'
import { createHandoff } from './handoff.ts'
import type { IntakeState } from './intake.ts'
import type { SettlementCounts } from './ledger.ts'

/** Handles broker deliveries without an inbox. */
export interface Consumer extends AsyncDisposable {
  /** State of its subscription. */
  readonly state: IntakeState
  /** Deliveries by terminal. */
  counts(): SettlementCounts
  /** Subscribes. Resolves as well when the broker cannot be reached yet: it goes on trying. */
  start(): Promise<void>
  /** Stops intake, lets handlers finish within the budget, leaves the rest to redelivery. @defaultValue 30 000 ms */
  stop(options?: { readonly budgetMs?: number }): Promise<DeliveryStopReport>
}

/**
 * Builds a consumer.
 *
 * @throws OptionsError naming every fault of options, handlers and retry profile.
 */
export function createConsumer(given: ConsumerOptions): Consumer {
  const options = resolveConsumerOptions(given)
  const handlers = createHandlerRegistry(options.handlers)
  const pipeline = createDeliveryPipeline({
    ...options,
    maxInFlight: options.concurrency,
    keyOf: (delivery) => delivery.message.orderingKey,
    handle: (delivery) => consumeDelivery(delivery, context),
  })
  const context: ConsumeContext = {
    options,
    handlers,
    handoff: createHandoff({ ...options, intake: pipeline.intake, stopping: pipeline.stopping }),
    stopping: pipeline.stopping,
    budget: pipeline.budget,
  }
  return {
    get state() {
      return pipeline.intake.state
    },
    counts: () => pipeline.counts(),
    start: () => pipeline.start(),
    stop: ({ budgetMs = 30_000 } = {}) => pipeline.stop(budgetMs),
    async [Symbol.asyncDispose]() {
      await pipeline.stop(30_000)
    },
  }
}
