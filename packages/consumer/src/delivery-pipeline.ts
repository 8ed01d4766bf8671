import {
  createDeadline,
  errorType,
  isolateLogger,
  isolateTelemetry,
  maxTimerMs,
  portRules,
  readOptions,
  sleep,
  type Clock,
  type Delivery,
  type Logger,
  type OptionShape,
  type ReturnOptions,
  type Telemetry,
  type Transport,
} from '@litebus/core'
import { createDeliveryLanes } from './delivery-lanes.ts'
import { createIntake, type Intake, type PauseReason } from './intake.ts'
import { createLedger, type SettlementCounts, type SettlementTerminal } from './ledger.ts'
import { orderingKeyOf, strictLaneOf, type LaneOf } from './ordering-key.ts'
import { settleDelivery } from './settle-delivery.ts'
import { createSettlementBudget, type SettlementBudget } from './settlement-budget.ts'
import type { DeliveryStopReport, StopOptions } from './stop-report.ts'
import { answerMs } from './until-probed.ts'

/** Takes deliveries from a source, handles them in order of their keys, and keeps the ledger. */
export interface DeliveryPipeline {
  /** The subscription. */
  readonly intake: Intake
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Aborts when the grace of a stop is over: whatever runs has to end now, and may still settle. */
  readonly forcing: AbortSignal
  /** Settlement budget, to be passed on. */
  readonly budget: SettlementBudget
  /** Counts by terminal. */
  counts(): SettlementCounts
  /** Subscribes; see {@link Intake.start}. */
  start(): Promise<void>
  /** Stops within one absolute deadline. Idempotent. */
  stop(options?: StopOptions): Promise<DeliveryStopReport>
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
  /**
   * Handles whole partitions in sequence, and what has no ordering key as if it were of one.
   * @defaultValue false: one ordering key in sequence, what has none side by side
   */
  readonly preserveOrder?: boolean
  /** How long one settlement may take, in milliseconds. */
  readonly settlementBudgetMs: number
  /** Pause before a lost subscription is made again, in milliseconds. */
  readonly restartDelayMs: number
  /**
   * Handles and settles one delivery, which came at `takenAtMs` of the monotonic clock. What it throws is a bug: the
   * delivery goes back. Deliveries with the same ordering key come one after another.
   */
  readonly handle: (delivery: Delivery, takenAtMs: number) => Promise<SettlementTerminal>
  /** Where log lines go. */
  readonly logger: Logger
  /** Where measurements go. */
  readonly telemetry: Telemetry
  /** Time. */
  readonly clock: Clock
}

const shape: OptionShape<DeliveryPipelineOptions> = {
  transport: portRules.transport,
  source: 'text',
  maxInFlight: 'any?',
  prefetch: 'any?',
  preserveOrder: 'any?',
  settlementBudgetMs: 'any?',
  restartDelayMs: 'any?',
  handle: 'function',
  logger: { ...portRules.logger, optional: false },
  telemetry: { ...portRules.telemetry, optional: false },
  clock: { ...portRules.clock, optional: false },
}

const scope = 'LiteBus.Transport'
/** At once, the broker would deliver it again at once. */
const delayedReturn: ReturnOptions = { delayMs: 1000 }

const defaultBudgetMs = 30_000

const pauseReasons: readonly PauseReason[] = [
  'store',
  'backlog',
  'handoff',
  'dependency',
  'discards',
  'operator',
]

/** Builds a pipeline that is not subscribed yet. */
export function createDeliveryPipeline(given: DeliveryPipelineOptions): DeliveryPipeline {
  const read = readOptions('delivery pipeline', given, { shape, open: true })
  const options = {
    ...read,
    logger: isolateLogger(read.logger),
    telemetry: isolateTelemetry(read.telemetry),
  }
  const { transport, source, logger, telemetry, clock } = options
  const stopping = new AbortController()
  const forcing = new AbortController()
  const laneOf: LaneOf = options.preserveOrder === true ? strictLaneOf : orderingKeyOf
  const budget = createSettlementBudget(options.settlementBudgetMs, clock)
  const attributes = { 'messaging.system': transport.system, 'messaging.destination.name': source }
  /** Made once for each outcome, not for each delivery. */
  const byOutcome = new Map<SettlementTerminal, Readonly<Record<string, string>>>()
  const attributesOf = (outcome: SettlementTerminal): Readonly<Record<string, string>> => {
    const known = byOutcome.get(outcome) ?? { ...attributes, outcome }
    byOutcome.set(outcome, known)
    return known
  }
  const settlements = { scope, name: 'litebus.consumer.settlements' } as const
  const ledger = createLedger((outcome) => {
    telemetry.count(settlements, 1, attributesOf(outcome))
  })
  /** Deliveries without a terminal, each with the end of its handling. */
  const open = new Map<Delivery, Promise<void>>()
  const lanes = createDeliveryLanes({ ...options, capabilities: transport.capabilitiesOf(source) })
  /** Names of deliveries that ended unresolved since a stop was asked for. */
  const unresolved: string[] = []

  const giveBack = (delivery: Delivery, how: ReturnOptions = {}): Promise<SettlementTerminal> =>
    settleDelivery(delivery, { act: 'return', options: how }, budget)
  const onBug = (delivery: Delivery, error: unknown): Promise<SettlementTerminal> => {
    logger.error('handling a delivery failed unexpectedly; it goes back', { source, error: errorType(error) })
    return giveBack(delivery, delayedReturn)
  }
  /** No async function on the way of a delivery: it is taken thousands of times a second. */
  const guarded = (
    delivery: Delivery,
    work: () => Promise<SettlementTerminal>,
  ): Promise<SettlementTerminal> => {
    try {
      return Promise.resolve(work()).catch((error: unknown) => onBug(delivery, error))
    } catch (error) {
      return onBug(delivery, error)
    }
  }
  const inTurn = (delivery: Delivery): Promise<SettlementTerminal> => {
    const takenAtMs = clock.monotonic()
    const key = laneOf(delivery)
    if (key === undefined) return options.handle(delivery, takenAtMs)
    return lanes.run(key, delivery, {
      handle: (onSent) =>
        guarded(delivery, () => options.handle(tellingReturns(delivery, onSent), takenAtMs)),
      giveBack: (onSent) => giveBack(delivery, { onSent }),
    })
  }
  const take = (delivery: Delivery, isStray: boolean): Promise<void> => {
    const close = ledger.open()
    const ended = (terminal: SettlementTerminal): void => {
      close(terminal)
      open.delete(delivery)
      if (terminal === 'unresolved' && stopping.signal.aborted) unresolved.push(nameOf(delivery))
    }
    const failed = (error: unknown): Promise<void> => onBug(delivery, error).then(ended)
    try {
      const handled = isStray ? giveBack(delivery, delayedReturn) : inTurn(delivery)
      // Code without types may answer no promise.
      return Promise.resolve(handled).then(ended, failed)
    } catch (error) {
      return failed(error)
    }
  }
  const intake = createIntake({
    ...options,
    suspendBudgetMs: options.settlementBudgetMs,
    onLost: () => {
      lanes.lost()
    },
    onDelivery: (delivery, isStray) => {
      open.set(delivery, take(delivery, isStray))
    },
  })
  const unobserve = [
    telemetry.observe(
      { scope, name: 'litebus.consumer.in_flight' },
      () => ledger.counts().inFlight,
      attributes,
    ),
    ...pauseReasons.map((reason) =>
      telemetry.observe(
        { scope, name: 'litebus.consumer.intake.paused' },
        () => (intake.reasons.includes(reason) ? 1 : 0),
        { ...attributes, reason },
      ),
    ),
  ]
  const deadline = createDeadline(clock)
  /** Handlers whose deliveries are gone already may still run: they are waited for as well, within the deadline. */
  const joined = (): Promise<unknown> =>
    Promise.race([Promise.all(open.values()), sleep(clock, maxTimerMs, deadline.signal)])
  const stopIntake = async (budgetMs: number): Promise<{ readonly unsettled: number } | undefined> => {
    const answered = new AbortController()
    /** Closing may take a while beyond the deadline, but not for ever. */
    const overdue = async (): Promise<never> => {
      await sleep(clock, maxTimerMs, AbortSignal.any([deadline.signal, answered.signal]))
      await sleep(clock, answerMs, answered.signal)
      throw new Error('expected the subscription to stop in time')
    }
    try {
      return await Promise.race([intake.stop(budgetMs), overdue()])
    } catch (error) {
      logger.error('the subscription could not be stopped', { source, error: errorType(error) })
      return undefined
    } finally {
      answered.abort()
    }
  }
  let stopped: Promise<DeliveryStopReport> | undefined
  const forced = { any: false }
  const grace = createDeadline(clock)
  const force = (): void => {
    if (deadline.signal.aborted) return
    forced.any = open.size > 0
    forcing.abort()
    lanes.cut()
  }
  grace.signal.addEventListener('abort', force, { once: true })
  const stop = async (budgetMs: number): Promise<DeliveryStopReport> => {
    const startedAt = clock.monotonic()
    stopping.abort()
    const report = await stopIntake(budgetMs)
    await joined()
    deadline.end()
    grace.end()
    // The final abort: authority is revoked by now, and what still runs should know.
    forcing.abort()
    for (const stopObserving of unobserve) stopObserving()
    const unsettled = report?.unsettled ?? 0
    const left = report === undefined ? 'failed' : open.size + unsettled > 0 ? 'incomplete' : undefined
    const outcome = left ?? (forced.any ? 'forced' : 'graceful')
    return {
      outcome,
      graceful: outcome === 'graceful',
      elapsedMs: clock.monotonic() - startedAt,
      settlements: ledger.counts(),
      unsettled,
      unresolved: [...unresolved, ...[...open.keys()].map(nameOf)],
    }
  }
  return {
    intake,
    stopping: stopping.signal,
    forcing: forcing.signal,
    budget,
    counts: ledger.counts,
    start: () => intake.start(),
    stop({ budgetMs = defaultBudgetMs, graceMs = budgetMs * 0.8 } = {}) {
      // A second call may bring both forward, and the end of the subscription too.
      grace.within(Math.min(graceMs, budgetMs))
      deadline.within(budgetMs)
      if (stopped === undefined) stopped = stop(budgetMs)
      else void stopIntake(budgetMs)
      return stopped
    },
  }
}

/** The same delivery, which tells when its return is on its way. */
function tellingReturns(delivery: Delivery, onSent: () => void): Delivery {
  return {
    ...delivery,
    returnToQueue: (how) =>
      delivery.returnToQueue({
        ...how,
        onSent: () => {
          onSent()
          how?.onSent?.()
        },
      }),
  }
}

function nameOf({ message, deliveryId }: Delivery): string {
  return message.messageId ?? deliveryId ?? ''
}
