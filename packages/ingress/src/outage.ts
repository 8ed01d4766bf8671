import { backoffDelayMs, sleep, type Clock, type Logger } from '@litebus/core'
import type { Intake } from '@litebus/consumer'

/** What all deliveries of an ingress know about the store: one outage, however many of them meet it. */
export interface Outage {
  /** A delivery found the store unavailable: intake stands still. */
  began(): void
  /** The store accepted something: intake goes on. */
  ended(): void
  /** Waits before the next attempt of a held delivery, or until a stop is asked for. */
  wait(attempt: number): Promise<void>
  /** Deliveries had to go back: the subscription is given up until the store can be used again. */
  giveUpSubscription(): void
}

/** What an outage works with. */
export interface OutageOptions {
  /** The subscription. */
  readonly intake: Pick<Intake, 'pause' | 'resume' | 'suspend'>
  /** Resolves when the store can be used. */
  readonly probe: (() => Promise<void>) | undefined
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Queue, topic or subscription. */
  readonly source: string
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const waits = { initialDelayMs: 100, multiplier: 2, maxDelayMs: 5000, jitter: 'equal' } as const

/** Starts without an outage. */
export function createOutage(options: OutageOptions): Outage {
  const { intake, probe, stopping, source, logger, clock, random } = options
  let active = false
  const untilUsable = async (signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; !signal.aborted; attempt++) {
      await sleep(clock, backoffDelayMs(attempt, waits, random), signal)
      try {
        await probe?.()
        ended()
        return
      } catch {
        // Still out; the change of state was logged when it began.
      }
    }
  }
  const ended = (): void => {
    if (!active) return
    active = false
    intake.resume('store')
    logger.info('store is available again: intake goes on', { source })
  }
  return {
    began() {
      if (active) return
      active = true
      intake.pause('store')
      logger.error('store is unavailable: intake stands still, deliveries are held', { source })
    },
    ended,
    wait: (attempt) => sleep(clock, backoffDelayMs(attempt, waits, random), stopping),
    giveUpSubscription() {
      logger.error('deliveries were held as long as they may: they go back, and intake waits for the store', {
        source,
      })
      intake.suspend(untilUsable)
    },
  }
}
