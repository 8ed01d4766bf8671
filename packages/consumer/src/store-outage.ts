import {
  backoffDelayMs,
  isolateLogger,
  portRules,
  readOptions,
  sleep,
  type Clock,
  type Logger,
  type OptionShape,
} from '@litebus/core'
import { createGivingUp } from './giving-up.ts'
import type { Intake } from './intake.ts'
import { untilProbed } from './until-probed.ts'

/** What all deliveries of one source know about their store: one outage, however many of them meet it. */
export interface StoreOutage {
  /** Aborts when the deliveries held now must go back; a later subscription gets a new one. */
  readonly givenUp: AbortSignal
  /** A delivery found the store unavailable: intake stands still. */
  began(): void
  /** The store accepted something: intake goes on. */
  ended(): void
  /** Waits before the next attempt of a held delivery, or until it may not be held any longer. */
  wait(hold: HoldStep): Promise<void>
  /** A delivery was held as long as it may: all go back, and intake waits until the store can be used again. */
  giveUp(): void
}

/** One wait of a held delivery. */
export interface HoldStep {
  /** 1-based number of the failed attempt. */
  readonly attempt: number
  /** Milliseconds for which it may still be held. */
  readonly leftMs: number
  /** Aborts when it must go back. */
  readonly givenUp: AbortSignal
}

/** What an outage works with. */
export interface StoreOutageOptions {
  /** The subscription. */
  readonly intake: Pick<Intake, 'pause' | 'resume' | 'suspend'>
  /** Resolves when the store can be used. */
  readonly probe?: (() => Promise<void>) | undefined
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

const shape: OptionShape<StoreOutageOptions> = {
  intake: { members: ['pause', 'resume', 'suspend'] },
  probe: 'function?',
  stopping: 'object',
  source: 'text',
  logger: { ...portRules.logger, optional: false },
  clock: { ...portRules.clock, optional: false },
  random: 'function',
}

const waits = { initialDelayMs: 100, multiplier: 2, maxDelayMs: 5000, jitter: 'equal' } as const

/** Starts without an outage. */
export function createStoreOutage(given: StoreOutageOptions): StoreOutage {
  const options = readOptions('store outage', given, { shape, open: true })
  const { intake, probe, stopping, source, clock, random } = options
  const logger = isolateLogger(options.logger)
  let active = false
  const givingUp = createGivingUp(intake)

  const untilUsable = async (signal: AbortSignal): Promise<void> => {
    if (await untilProbed({ probe: () => probe?.(), waits, clock, random }, signal)) ended()
  }
  const ended = (): void => {
    if (!active) return
    active = false
    intake.resume('store')
    logger.info('store is available again: intake goes on', { source })
  }
  return {
    get givenUp() {
      return givingUp.signal
    },
    began() {
      if (active) return
      active = true
      intake.pause('store')
      logger.error('store is unavailable: intake stands still, deliveries are held', { source })
    },
    ended,
    wait: ({ attempt, leftMs, givenUp }) =>
      sleep(
        clock,
        Math.min(leftMs, backoffDelayMs(attempt, waits, random)),
        AbortSignal.any([stopping, givenUp]),
      ),
    giveUp() {
      logger.error('deliveries were held as long as they may: they go back, and intake waits for the store', {
        source,
      })
      givingUp.giveUp(untilUsable)
    },
  }
}
