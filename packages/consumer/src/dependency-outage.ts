import { backoffDelayMs, sleep, type Clock, type Delivery, type Failure, type Logger } from '@litebus/core'
import { createGivingUp } from './giving-up.ts'
import type { Intake } from './intake.ts'
import type { TimeoutBudget } from './timeout-budget.ts'

/** Holds deliveries while something that handlers depend on is out of reach, with intake standing still. */
export interface DependencyOutage {
  /** Waits before the handler is tried again; `goBack`: for a stop, or since it may be held no longer. */
  hold(delivery: Delivery, failure: Failure, heldUntil: number): Promise<'again' | 'goBack'>
  /** The delivery is held no longer. */
  release(delivery: Delivery): void
}

/** What an outage works with. */
export interface DependencyOutageOptions {
  /** Paused while anything is held. */
  readonly intake: Pick<Intake, 'pause' | 'resume' | 'suspend'>
  /** Says when one may be parked again. */
  readonly budget: TimeoutBudget
  /** Aborts when the consumer stops. */
  readonly stopping: AbortSignal
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Queue, topic or subscription. */
  readonly source: string
}

const waits = { initialDelayMs: 1000, multiplier: 2, maxDelayMs: 30_000, jitter: 'equal' } as const

/** Starts with nothing held. */
export function createDependencyOutage(options: DependencyOutageOptions): DependencyOutage {
  const { intake, budget, stopping, logger, clock, random, source } = options
  /** Held deliveries, each with how often its handler was tried meanwhile. */
  const held = new Map<Delivery, number>()
  const givingUp = createGivingUp(intake)

  const begin = ({ category, code }: Failure): void => {
    intake.pause('dependency')
    logger.error('no more messages are parked for this: intake stands still and handlers are tried again', {
      source,
      category,
      code,
    })
  }
  const giveUp = (): void => {
    logger.error('a dependency was out of reach for as long as deliveries may be held: they go back', {
      source,
    })
    givingUp.giveUp((signal) => sleep(clock, Math.max(waits.maxDelayMs, budget.untilToken()), signal))
  }
  return {
    async hold(delivery, failure, heldUntil) {
      const givenUp = givingUp.signal
      if (held.size === 0) begin(failure)
      const tries = (held.get(delivery) ?? 0) + 1
      held.set(delivery, tries)
      const leftMs = heldUntil - clock.monotonic()
      if (leftMs <= 0) giveUp()
      else {
        const waitMs = Math.min(leftMs, backoffDelayMs(tries, waits, random))
        await sleep(clock, waitMs, AbortSignal.any([stopping, givenUp]))
      }
      return stopping.aborted || givenUp.aborted ? 'goBack' : 'again'
    },
    release(delivery) {
      if (!held.delete(delivery) || held.size > 0) return
      intake.resume('dependency')
      logger.info('no message is held any more because of a dependency', { source })
    },
  }
}
