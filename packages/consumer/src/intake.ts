import {
  errorType,
  inTime,
  InvalidOperationError,
  isLiteBusError,
  sleep,
  TransportUnavailableError,
  within,
  type Clock,
  type Delivery,
  type LogFields,
  type Logger,
  type StopReport,
  type Subscription,
  type Transport,
} from '@litebus/core'
import { answerMs } from './until-probed.ts'

/** Why intake stands still. */
export type PauseReason = 'store' | 'backlog' | 'handoff' | 'dependency' | 'discards' | 'operator'

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
  /**
   * Receives each delivery. It is stray when its subscription was still being made when the stop came: nobody waits for
   * its handler.
   */
  readonly onDelivery: (delivery: Delivery, isStray: boolean) => void
  /** Called when everything that was handed out and not settled is to be delivered again. */
  readonly onLost: () => void
  /** Pause before a lost subscription is made again, in milliseconds. */
  readonly restartDelayMs: number
  /** How long a suspended subscription may take to settle what it handed out. */
  readonly suspendBudgetMs: number
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
}

/** Longest time for a subscription to be made: connecting, and joining a group. */
const subscribeMs = 5 * 60_000

/** Log event: the subscription was lost and is made again. */
const eventRestarting = 3002

/** Starts without a subscription. */
export function createIntake(options: IntakeOptions): Intake {
  const { transport, source, logger, clock } = options
  const stopping = new AbortController()
  const reasons = new Set<PauseReason>()
  let phase: 'idle' | 'subscribed' | 'suspended' | 'recovering' = 'idle'
  let subscription: Subscription | undefined
  let end: (() => void) | undefined
  /** What has to resolve before the next subscription, all of it. */
  const conditions = new Set<SuspendedUntil>()
  let starting: Promise<void> | undefined
  let running: Promise<void> | undefined
  let stopped: Promise<StopReport> | undefined

  /** A call, since it changes during waits, which type checking does not see. */
  const isStopping = (): boolean => stopping.signal.aborted

  /** One that comes too late is nobody's: it is stopped, not left to deliver beside the next. */
  const subscribedInTime = async (subscribing: Promise<Subscription>): Promise<Subscription> => {
    const onLate = (): Error => {
      void subscribing.then((late) => late.stop({ budgetMs: 0 })).catch(() => undefined)
      return new TransportUnavailableError(`expected ${source} to be subscribed to in time`)
    }
    return inTime(subscribing, { clock, limitMs: subscribeMs, onLate })
  }
  const subscribe = async (): Promise<Subscribed> => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const progress = { made: false }
    const made = await subscribedInTime(
      transport.consumer.subscribe(
        {
          source,
          maxInFlight: options.maxInFlight,
          prefetch: options.prefetch,
          onFailure: () => {
            resolve(undefined)
          },
          onRevoked: options.onLost,
        },
        (delivery) => {
          options.onDelivery(delivery, isStopping() && !progress.made)
        },
      ),
    )
    // A stop that came meanwhile could not know of it.
    if (stopping.signal.aborted) await quietly('stop', made.stop({ budgetMs: 0 }))
    else progress.made = true
    subscription = made
    end = () => {
      resolve(undefined)
    }
    phase = 'subscribed'
    if (reasons.size > 0) await quietly('pause', within(clock, answerMs, made.pause()))
    return { ended: promise }
  }
  /** A subscription that cannot do what it is asked is lost or ended, which it says elsewhere. */
  const quietly = async (what: string, work: Promise<unknown> | undefined): Promise<void> => {
    try {
      await work
    } catch (error) {
      logger.warn('a subscription did not do what it was asked', { source, what, error: errorType(error) })
    }
  }
  const recover = async (message: string, fields: LogFields = {}): Promise<void> => {
    phase = 'recovering'
    logger.warn(message, { ...fields, eventId: eventRestarting, source })
    await sleep(clock, options.restartDelayMs, stopping.signal)
  }
  const untilMaySubscribe = async (): Promise<void> => {
    for (const until of conditions) {
      if (stopping.signal.aborted) return
      phase = 'suspended'
      await quietly('suspend', until(stopping.signal))
      conditions.delete(until)
    }
  }
  const afterEnd = async (): Promise<void> => {
    if (stopping.signal.aborted) return
    if (conditions.size === 0) await recover('subscription lost, restarting')
    else {
      phase = 'suspended'
      const stopped = subscription?.stop({ budgetMs: options.suspendBudgetMs })
      await quietly('stop', within(clock, options.suspendBudgetMs + answerMs, Promise.resolve(stopped)))
      subscription = undefined
    }
  }
  const keepSubscribed = async (first: Subscribed | undefined): Promise<void> => {
    let subscribed = first
    if (subscribed === undefined) await sleep(clock, options.restartDelayMs, stopping.signal)
    while (!stopping.signal.aborted) {
      try {
        if (subscribed === undefined) await untilMaySubscribe()
        if (isStopping()) return
        subscribed ??= await subscribe()
      } catch (error) {
        await recover('subscribing failed, trying again', { error: errorType(error) })
        continue
      }
      await subscribed.ended
      subscribed = undefined
      await afterEnd()
    }
  }
  const start = async (): Promise<void> => {
    let first: Subscribed | undefined
    try {
      first = await subscribe()
    } catch (error) {
      if (!isLiteBusError(error, 'TRANSPORT_UNAVAILABLE')) throw error
      phase = 'recovering'
      logger.warn('the subscription could not be made at start, trying again', {
        eventId: eventRestarting,
        source,
        error: errorType(error),
      })
    }
    running = keepSubscribed(first)
  }
  const stop = async (budgetMs: number): Promise<StopReport> => {
    stopping.abort()
    end?.()
    return (await subscription?.stop({ budgetMs })) ?? { unsettled: 0 }
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
      if (stopped !== undefined)
        throw new InvalidOperationError(`consumption of ${source} was stopped; create a new one`)
      if (starting !== undefined || running !== undefined)
        throw new InvalidOperationError(`consumption of ${source} is already started`)
      starting = start()
      try {
        await starting
      } finally {
        starting = undefined
      }
    },
    pause(reason) {
      reasons.add(reason)
      if (reasons.size === 1) void quietly('pause', subscription?.pause())
    },
    resume(reason) {
      if (reasons.delete(reason) && reasons.size === 0) void quietly('resume', subscription?.resume())
    },
    suspend(until) {
      conditions.add(until)
      end?.()
    },
    stop(budgetMs) {
      if (stopped === undefined) stopped = stop(budgetMs)
      else void quietly('stop', subscription?.stop({ budgetMs }))
      return stopped
    },
  }
}

type SuspendedUntil = (signal: AbortSignal) => Promise<void>

/** A promise within an object: one that a promise resolves to would be awaited with it. */
interface Subscribed {
  readonly ended: Promise<undefined>
}
