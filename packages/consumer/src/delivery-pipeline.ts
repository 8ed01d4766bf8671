import { type Clock, type Delivery, type Logger, type Telemetry, type Transport } from '@litebus/core'
import { createIntake, type Intake } from './intake.ts'
import { createKeySequencer } from './key-sequencer.ts'
import { createLedger, type SettlementCounts, type SettlementTerminal } from './ledger.ts'
import { returnDelivery, type SettlementBudget } from './settle-delivery.ts'

/** What a stop left behind. */
export interface DeliveryStopReport {
  /** True when every delivery handed out was settled within the budget. */
  readonly graceful: boolean
  /** Milliseconds that the stop took. */
  readonly elapsedMs: number
  /** All deliveries by terminal. */
  readonly settlements: SettlementCounts
  /** Deliveries that were not settled in time; the broker delivers them again. */
  readonly unsettled: number
}

/** Takes deliveries from a source, handles them in order of their keys, and keeps the ledger. */
export interface DeliveryPipeline {
  /** The subscription. */
  readonly intake: Intake
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Settlement budget, to be passed on. */
  readonly budget: SettlementBudget
  /** Counts by terminal. */
  counts(): SettlementCounts
  /** Subscribes; see {@link Intake.start}. */
  start(): Promise<void>
  /** Stops within one absolute deadline. Idempotent. */
  stop(budgetMs: number): Promise<DeliveryStopReport>
}

/** What a pipeline works with. */
export interface DeliveryPipelineOptions {
  /** The broker. */
  readonly transport: Transport
  /** Queue, topic or subscription. */
  readonly source: string
  /** Most deliveries handled at a time. */
  readonly maxInFlight: number
  /** Deliveries that the broker may push ahead. */
  readonly prefetch: number
  /** How long one settlement may take, in milliseconds. */
  readonly settlementBudgetMs: number
  /** Pause before a lost subscription is made again, in milliseconds. */
  readonly restartDelayMs: number
  /** Deliveries with the same key are handled in sequence. */
  readonly keyOf: (delivery: Delivery) => string | undefined
  /** Handles and settles one delivery. What it throws is a bug: the delivery goes back. */
  readonly handle: (delivery: Delivery) => Promise<SettlementTerminal>
  /** Where log lines go. */
  readonly logger: Logger
  /** Where measurements go. */
  readonly telemetry: Telemetry
  /** Time. */
  readonly clock: Clock
}

const scope = 'LiteBus.Transport'
const faultDelayMs = 1000

/** Builds a pipeline that is not subscribed yet. */
export function createDeliveryPipeline(options: DeliveryPipelineOptions): DeliveryPipeline {
  const { transport, source, logger, telemetry, clock } = options
  const stopping = new AbortController()
  const sequencer = createKeySequencer()
  const budget: SettlementBudget = { budgetMs: options.settlementBudgetMs, clock }
  const attributes = { 'messaging.system': transport.system, 'messaging.destination.name': source }
  const ledger = createLedger((outcome) => {
    telemetry.count({ scope, name: 'litebus.consumer.settlements' }, 1, { ...attributes, outcome })
  })
  const unobserve = telemetry.observe(
    { scope, name: 'litebus.consumer.in_flight' },
    () => ledger.counts().inFlight,
    attributes,
  )
  const handle = async (delivery: Delivery): Promise<SettlementTerminal> => {
    try {
      return await options.handle(delivery)
    } catch (error) {
      logger.error('handling a delivery failed unexpectedly; it goes back', {
        source,
        error: error instanceof Error ? error.constructor.name : typeof error,
      })
      return returnDelivery(delivery, budget, { delayMs: faultDelayMs })
    }
  }
  const take = async (delivery: Delivery): Promise<void> => {
    const close = ledger.open()
    const terminal = await sequencer.run(
      options.keyOf(delivery),
      () => handle(delivery),
      () => returnDelivery(delivery, budget),
    )
    close(terminal)
  }
  const intake = createIntake({
    ...options,
    suspendBudgetMs: options.settlementBudgetMs,
    onDelivery: (delivery) => {
      void take(delivery)
    },
  })
  let stopped: Promise<DeliveryStopReport> | undefined
  const stop = async (budgetMs: number): Promise<DeliveryStopReport> => {
    const startedAt = clock.monotonic()
    stopping.abort()
    const { unsettled } = await intake.stop(budgetMs)
    unobserve()
    return {
      graceful: unsettled === 0,
      elapsedMs: clock.monotonic() - startedAt,
      settlements: ledger.counts(),
      unsettled,
    }
  }
  return {
    intake,
    stopping: stopping.signal,
    budget,
    counts: ledger.counts,
    start: () => intake.start(),
    stop(budgetMs) {
      stopped ??= stop(budgetMs)
      return stopped
    },
  }
}
