import {
  backoffDelayMs,
  isolateLogger,
  isolateTelemetry,
  portRules,
  readOptions,
  sleep,
  type Clock,
  type Failure,
  type Logger,
  type OptionShape,
  type OutboundMessage,
  type PublishOutcome,
  type Telemetry,
  type Transport,
} from '@litebus/core'
import { bareCopy } from './bare-copy.ts'
import { createGivingUp } from './giving-up.ts'
import type { Intake } from './intake.ts'
import { untilProbed } from './until-probed.ts'

/**
 * How a handoff ended.
 *
 * - `confirmed`: the broker has the copy, the source may be settled.
 * - `failed`: the hold limit or a stop came first, the source must go back.
 * - `cancelled`: a stop came while a copy may have been taken: nothing may be done to the source here.
 * - `unpublishable`: the broker takes the copy in no form, and never will; only where `onUnpublishable` is `end`.
 */
export type HandoffResult = 'confirmed' | 'failed' | 'cancelled' | 'unpublishable'

/** Publishes the copy of a hop until the broker has confirmed it, while the source delivery can be held. */
export interface Handoff {
  /** The same copy is published each time, so that a destination that deduplicates takes it once. */
  deliver(copy: OutboundMessage, heldUntil: number): Promise<HandoffResult>
}

/** What a handoff works with. */
export interface HandoffOptions {
  /** The broker. */
  readonly transport: Transport
  /** Paused while a handoff fails, suspended when it cannot be held any longer. */
  readonly intake: Pick<Intake, 'pause' | 'resume' | 'suspend'>
  /** How long one publish may take. */
  readonly publishTimeoutMs: number
  /** What becomes of a copy that the broker takes in no form: it is held like any other, or ends. @defaultValue 'hold' */
  readonly onUnpublishable?: 'hold' | 'end'
  /** Aborts when the consumer stops. */
  readonly stopping: AbortSignal
  /** Aborts when the grace of a stop is over. */
  readonly forcing: AbortSignal
  /** Where log lines go. */
  readonly logger: Logger
  /** Where measurements go. */
  readonly telemetry: Telemetry
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const shape: OptionShape<HandoffOptions> = {
  transport: portRules.transport,
  intake: { members: ['pause', 'resume', 'suspend'] },
  publishTimeoutMs: 'any?',
  onUnpublishable: 'any?',
  stopping: 'object',
  forcing: 'object',
  logger: { ...portRules.logger, optional: false },
  telemetry: { ...portRules.telemetry, optional: false },
  clock: { ...portRules.clock, optional: false },
  random: 'function',
}

/** Refusals of the message itself, before anything was sent. */
const unpublishable: ReadonlySet<string> = new Set(['HEADER_INVALID', 'MESSAGE_TOO_LARGE'])
const waits = { initialDelayMs: 200, multiplier: 2, maxDelayMs: 30_000, jitter: 'equal' } as const
const duration = {
  scope: 'LiteBus.Transport',
  name: 'litebus.consumer.handoff.duration',
  unit: 'ms',
} as const
const unanswered: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'PUBLISH_UNANSWERED' },
}

function isUnpublishable(outcome: PublishOutcome): boolean {
  return outcome.status === 'rejected' && unpublishable.has(outcome.failure.code)
}

/** Starts with no handoff under way. */
export function createHandoff(given: HandoffOptions): Handoff {
  const read = readOptions('handoff', given, { shape, open: true })
  const options = {
    ...read,
    logger: isolateLogger(read.logger),
    telemetry: isolateTelemetry(read.telemetry),
  }
  const { transport, intake, stopping, forcing, logger, telemetry, clock, random } = options
  let failing = 0
  const givingUp = createGivingUp(intake)

  const publish = async (copy: OutboundMessage): Promise<PublishOutcome> => {
    const controller = new AbortController()
    const abort = (): void => {
      controller.abort()
    }
    const timer = clock.schedule(options.publishTimeoutMs, abort)
    if (forcing.aborted) abort()
    forcing.addEventListener('abort', abort, { once: true })
    try {
      const [outcome] = await transport.publisher.publish([copy], { signal: controller.signal })
      return outcome ?? unanswered
    } catch {
      return unanswered
    } finally {
      timer.cancel()
      forcing.removeEventListener('abort', abort)
    }
  }
  const begin = (destination: string, failure: Failure): void => {
    failing += 1
    if (failing > 1) return
    intake.pause('handoff')
    const { category, code } = failure
    logger.error('handoff failed: intake stands still and the handoff is tried again', {
      destination,
      category,
      code,
    })
  }
  const end = (): void => {
    failing -= 1
    if (failing > 0) return
    intake.resume('handoff')
    logger.info('no handoff is failing any more')
  }
  const giveUp = (destination: string): void => {
    logger.error('a handoff failed for as long as deliveries may be held: they go back', { destination })
    givingUp.giveUp(async (signal) => {
      await untilProbed({ probe: () => transport.probe(destination), waits, clock, random }, signal)
    })
  }
  /** Tries again until it is confirmed, cannot be held any longer, or a stop ends it. */
  const goOn = async (
    copy: OutboundMessage,
    heldUntil: number,
    first: PublishOutcome,
  ): Promise<HandoffResult> => {
    const givenUp = givingUp.signal
    let mayBeTaken = first.status === 'ambiguous'
    const ended = (): HandoffResult | undefined => {
      if (forcing.aborted) return mayBeTaken ? 'cancelled' : 'failed'
      return givenUp.aborted || (stopping.aborted && !mayBeTaken) ? 'failed' : undefined
    }
    for (let attempt = 1; ended() === undefined; attempt++) {
      const left = heldUntil - clock.monotonic()
      if (left <= 0) {
        giveUp(copy.destination)
        break
      }
      const wakers = stopping.aborted ? [forcing, givenUp] : [stopping, givenUp]
      const delayMs = Math.min(left, backoffDelayMs(attempt, waits, random))
      await sleep(clock, delayMs, AbortSignal.any(wakers))
      if (ended() !== undefined) break
      const outcome = await publish(copy)
      if (outcome.status === 'confirmed') return 'confirmed'
      mayBeTaken ||= outcome.status === 'ambiguous'
    }
    return ended() ?? 'failed'
  }
  const handOff = async (copy: OutboundMessage, heldUntil: number): Promise<HandoffResult> => {
    let first = await publish(copy)
    if (isUnpublishable(first)) {
      // Trying again would not change it, and holding it would stop everything behind it for ever.
      copy = bareCopy(copy)
      first = await publish(copy)
      if (options.onUnpublishable === 'end' && isUnpublishable(first)) return 'unpublishable'
    }
    if (first.status === 'confirmed') return 'confirmed'
    begin(copy.destination, first.failure)
    try {
      return await goOn(copy, heldUntil, first)
    } finally {
      end()
    }
  }
  return {
    async deliver(copy, heldUntil) {
      const startedAt = clock.monotonic()
      const result = await handOff(copy, heldUntil)
      telemetry.record(duration, clock.monotonic() - startedAt, { outcome: result })
      return result
    },
  }
}
