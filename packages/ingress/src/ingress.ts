import {
  createDeliveryPipeline,
  createHandoff,
  type DeliveryStopReport,
  type IntakeState,
  type PauseReason,
  type SettlementCounts,
} from '@litebus/consumer'
import { createContractRegistry, textOf, wireHeaders, type Delivery } from '@litebus/core'
import { createAcceptor } from './acceptor.ts'
import { watchBacklog } from './backlog.ts'
import { createDiscarder } from './discard.ts'
import { ingestDelivery, type IngestContext } from './ingest-delivery.ts'
import { resolveIngressOptions, type IngressOptions } from './ingress-options.ts'
import { createOutage } from './outage.ts'

/** Takes broker deliveries into an inbox. */
export interface Ingress extends AsyncDisposable {
  /** State of its subscription. */
  readonly state: IntakeState
  /** Why intake stands still now; empty when it does not. */
  readonly pausedBy: readonly PauseReason[]
  /** Deliveries by terminal. */
  counts(): SettlementCounts
  /** Subscribes. Resolves as well when the broker cannot be reached yet: it goes on trying. */
  start(): Promise<void>
  /** Lets an operator stop intake. */
  pause(): void
  /** Takes back a pause of an operator, and one for too many discards. */
  resume(): void
  /** Stops intake, accepts or returns what is held, leaves the rest to redelivery. @defaultValue 30 000 ms */
  stop(options?: { readonly budgetMs?: number }): Promise<DeliveryStopReport>
}

/**
 * Builds an ingress.
 *
 * @throws OptionsError naming every fault.
 */
export function createIngress(given: IngressOptions): Ingress {
  const options = resolveIngressOptions(given)
  const pipeline = createDeliveryPipeline({
    ...options,
    maxInFlight: options.maxInFlightMessages,
    prefetch: options.maxInFlightMessages,
    restartDelayMs: options.retryPollIntervalMs,
    keyOf: orderingKeyOf,
    handle: (delivery) => ingestDelivery(delivery, context),
  })
  const { intake, stopping, budget } = pipeline
  const acceptor = createAcceptor(options)
  const handoff = createHandoff({ ...options, intake, stopping, publishTimeoutMs: options.executionBudgetMs })
  const context: IngestContext = {
    options,
    contracts: createContractRegistry(options.contracts),
    acceptor,
    discarder: createDiscarder({ options, intake, handoff, budget }),
    outage: createOutage({ ...options, probe: options.probe, intake, stopping }),
    stopping,
    budget,
  }
  const stop = async (budgetMs: number): Promise<DeliveryStopReport> => {
    const stopped = pipeline.stop(budgetMs)
    acceptor.flush()
    return stopped
  }
  return {
    get state() {
      return intake.state
    },
    get pausedBy() {
      return intake.reasons
    },
    counts: () => pipeline.counts(),
    async start() {
      if (options.backlog !== undefined) void watchBacklog(options.backlog, { ...options, intake, stopping })
      await pipeline.start()
    },
    pause() {
      intake.pause('operator')
    },
    resume() {
      intake.resume('operator')
      intake.resume('discards')
    },
    stop: ({ budgetMs = 30_000 } = {}) => stop(budgetMs),
    async [Symbol.asyncDispose]() {
      await stop(30_000)
    },
  }
}

/** Read before admission, so nothing but plain text counts; what is malformed is refused later. */
function orderingKeyOf({ message }: Delivery): string | undefined {
  const header = message.headers[wireHeaders.orderingKey]
  const own = header === undefined ? undefined : textOf(header)?.trim()
  return own === undefined || own === '' ? message.orderingKey : own
}
