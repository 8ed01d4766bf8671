import {
  isLiteBusError,
  sleep,
  type Clock,
  type Delivery,
  type Logger,
  type StopReport,
  type Subscription,
  type Transport,
} from '@litebus/core'

/** Why intake stands still. */
export type PauseReason = 'store' | 'backlog' | 'handoff' | 'discards' | 'operator'

/** State of an intake. */
export type IntakeState = 'idle' | 'consuming' | 'paused' | 'suspended' | 'recovering' | 'stopped'

/** One subscription that is kept alive, paused and suspended. */
export interface Intake {
  /** Current state. */
  readonly state: IntakeState
  /** Why it stands still now. */
  readonly reasons: readonly PauseReason[]
  /**
   * Subscribes. Resolves when the broker has agreed, or when it cannot be reached: then it goes on trying.
   *
   * @throws what the transport says about a source that is missing or wrong.
   */
  start(): Promise<void>
  /** Stands still until the reason is taken back. */
  pause(reason: PauseReason): void
  /** Takes a reason back. */
  resume(reason: PauseReason): void
  /** Cancels the subscription and subscribes again when `until` has resolved. */
  suspend(until: (signal: AbortSignal) => Promise<void>): void
  /** Stops for good; see `Subscription.stop` of the transport. */
  stop(budgetMs: number): Promise<StopReport>
}

/** What an intake works with. */
export interface IntakeOptions {
  /** The broker. */
  readonly transport: Transport
  /** Queue, topic or subscription. */
  readonly source: string
  /** Most deliveries handed out and not settled. */
  readonly maxInFlight: number
  /** Deliveries that the broker may push ahead. */
  readonly prefetch: number
  /** Receives each delivery. */
  readonly onDelivery: (delivery: Delivery) => void
  /** Pause before a lost subscription is made again, in milliseconds. */
  readonly restartDelayMs: number
  /** How long a suspended subscription may take to settle what it handed out. */
  readonly suspendBudgetMs: number
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
}

/** Log event: the subscription was lost and is made again. */
const eventRestarting = 3002

/** Starts without a subscription. */
export function createIntake(options: IntakeOptions): Intake {
  const { transport, source, logger, clock } = options
  const stopping = new AbortController()
  const reasons = new Set<PauseReason>()
  let phase: 'idle' | 'subscribed' | 'suspended' | 'recovering' = 'idle'
  let subscription: Subscription | undefined
  let end: ((cause: EndCause) => void) | undefined
  let running: Promise<void> | undefined
  let stopped: Promise<StopReport> | undefined

  const subscribe = async (): Promise<Subscribed> => {
    const { promise, resolve } = Promise.withResolvers<EndCause>()
    subscription = await transport.consumer.subscribe(
      {
        source,
        maxInFlight: options.maxInFlight,
        prefetch: options.prefetch,
        onFailure: () => {
          resolve({ kind: 'failed' })
        },
      },
      options.onDelivery,
    )
    end = resolve
    phase = 'subscribed'
    if (reasons.size > 0) await subscription.pause()
    return { ended: promise }
  }
  const recover = async (message: string): Promise<void> => {
    phase = 'recovering'
    logger.warn(message, { eventId: eventRestarting, source })
    await sleep(clock, options.restartDelayMs, stopping.signal)
  }
  const afterEnd = async (cause: EndCause): Promise<void> => {
    if (stopping.signal.aborted) return
    if (cause.kind === 'failed') {
      await recover('subscription lost, restarting')
      return
    }
    phase = 'suspended'
    await subscription?.stop({ budgetMs: options.suspendBudgetMs })
    await cause.until(stopping.signal)
  }
  const keepSubscribed = async (first: Subscribed | undefined): Promise<void> => {
    let subscribed = first
    if (subscribed === undefined) await sleep(clock, options.restartDelayMs, stopping.signal)
    while (!stopping.signal.aborted) {
      try {
        subscribed ??= await subscribe()
      } catch {
        await recover('subscribing failed, trying again')
        continue
      }
      const cause = await subscribed.ended
      subscribed = undefined
      await afterEnd(cause)
    }
  }
  const stop = async (budgetMs: number): Promise<StopReport> => {
    stopping.abort()
    end?.({ kind: 'failed' })
    let report = await (subscription?.stop({ budgetMs }) ?? { unsettled: 0 })
    const before = subscription
    await running
    // A subscription that was being made when the stop came is ended as well.
    if (subscription !== undefined && subscription !== before)
      report = await subscription.stop({ budgetMs: 0 })
    return report
  }
  return {
    get state() {
      if (stopped !== undefined) return 'stopped'
      if (phase !== 'subscribed') return phase
      return reasons.size > 0 ? 'paused' : 'consuming'
    },
    get reasons() {
      return [...reasons]
    },
    async start() {
      let first: Subscribed | undefined
      try {
        first = await subscribe()
      } catch (error) {
        if (!isLiteBusError(error, 'TRANSPORT_UNAVAILABLE')) throw error
        phase = 'recovering'
        logger.warn('broker not reachable at start, trying again', { eventId: eventRestarting, source })
      }
      running = keepSubscribed(first)
    },
    pause(reason) {
      reasons.add(reason)
      if (reasons.size === 1) void subscription?.pause()
    },
    resume(reason) {
      if (reasons.delete(reason) && reasons.size === 0) void subscription?.resume()
    },
    suspend(until) {
      if (phase === 'subscribed') end?.({ kind: 'suspended', until })
    },
    stop(budgetMs) {
      stopped ??= stop(budgetMs)
      return stopped
    },
  }
}

/** A promise within an object: one that a promise resolves to would be awaited with it. */
interface Subscribed {
  readonly ended: Promise<EndCause>
}

type EndCause =
  | { readonly kind: 'failed' }
  | { readonly kind: 'suspended'; readonly until: (signal: AbortSignal) => Promise<void> }
