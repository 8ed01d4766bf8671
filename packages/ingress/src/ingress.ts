import {
  createDeliveryPipeline,
  createHandoff,
  createStoreOutage,
  probeIntake,
  type DeliveryStopReport,
  type IntakeState,
  type PauseReason,
  type SettlementCounts,
  type StopOptions,
} from '@litebus/consumer'
import { createContractRegistry } from '@litebus/core'
import { createAcceptor } from './acceptor.ts'
import { acknowledge } from './acknowledge.ts'
import { watchBacklog } from './backlog.ts'
import { createDiscarder } from './discard.ts'
import { ingestDelivery, type IngestContext, type Ingesting } from './ingest-delivery.ts'
import { createDeliveryMapping } from './map-delivery.ts'
import { createRequeueLog } from './requeue-log.ts'
import { resolveIngressOptions, type IngressOptions } from './ingress-options.ts'

/** Takes broker deliveries into an inbox. */
export interface Ingress extends AsyncDisposable {
  /** State of its subscription. */
  readonly state: IntakeState
  /** Why intake stands still now; empty when it does not. */
  readonly pausedBy: readonly PauseReason[]
  /**
   * Resolves while it consumes, or stands still because an operator asked for it, for health checks.
   *
   * @throws TransportUnavailableError when it stands still for another reason, or has no subscription.
   */
  probe(): Promise<void>
  /** Deliveries by terminal. */
  counts(): SettlementCounts
  /** Subscribes. Resolves as well when the broker cannot be reached yet: it goes on trying. */
  start(): Promise<void>
  /** Lets an operator stop intake. */
  pause(): void
  /** Takes back a pause of an operator, and one for too many discards. */
  resume(): void
  /**
   * Stops intake, accepts or returns what is held, leaves to redelivery what has not ended within the budget.
   * Idempotent.
   */
  stop(options?: StopOptions): Promise<DeliveryStopReport>
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
    handle: (delivery, takenAtMs) => ingestDelivery(delivery, context, takenAtMs),
  })
  const { intake, stopping, forcing, budget } = pipeline
  const acceptor = createAcceptor<Ingesting>({
    options,
    stopping,
    accepted: (stored) => {
      acknowledge(stored, context)
    },
  })
  const handoff = createHandoff({
    ...options,
    intake,
    stopping,
    forcing,
    publishTimeoutMs: options.executionBudgetMs,
  })
  const discarder = createDiscarder({ options, intake, handoff, budget, stopping })
  const context: IngestContext = {
    options,
    map: createDeliveryMapping(createContractRegistry(options.contracts), options),
    acceptor,
    discarder,
    requeues: createRequeueLog(options),
    outage: createStoreOutage({ ...options, probe: options.probe, intake, stopping }),
    stopping,
    budget,
  }
  const stop = (stopOptions?: StopOptions): Promise<DeliveryStopReport> => {
    const stopped = pipeline.stop(stopOptions)
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
    probe: () => probeIntake(intake, options.source),
    counts: () => pipeline.counts(),
    async start() {
      await pipeline.start()
      // Only now: a start that fails may be tried again, and would leave a watch behind each time.
      if (options.backlog !== undefined) {
        void watchBacklog(options.backlog, { ...options, probe: options.probe, intake, stopping })
      }
    },
    pause() {
      intake.pause('operator')
    },
    resume() {
      intake.resume('operator')
      discarder.startAgain()
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
    },
  }
}
