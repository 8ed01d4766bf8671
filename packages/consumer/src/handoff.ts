import {
  backoffDelayMs,
  isolateLogger,
  isolateTelemetry,
  maxTimerMs,
  portRules,
  publishFailures,
  readOptions,
  sleep,
  within,
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
 * - `unpublishable`: the copy can never be published, not even without its headers, and no part of it was sent.
 */
export type HandoffResult = 'confirmed' | 'failed' | 'cancelled' | 'unpublishable'

/** Publishes the copy of a hop until the broker has confirmed it, while the source delivery can be held. */
export interface Handoff {
  /**
   * The same copy is published each time, so that a destination that deduplicates takes it once. A copy that can never
   * be published is held as well, with `whenRefused: 'answer'` it is told. @defaultValue 'hold'
   */
  deliver(
    copy: OutboundMessage,
    heldUntil: number,
    options?: { readonly whenRefused?: 'hold' | 'answer' },
  ): Promise<HandoffResult>
}

/** What a handoff works with. */
export interface HandoffOptions {
  /** The broker. */
  readonly transport: Transport
  /** Paused while a handoff fails, suspended when it cannot be held any longer. */
  readonly intake: Pick<Intake, 'pause' | 'resume' | 'suspend'>
  /** How long one publish may take. */
  readonly publishTimeoutMs: number
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
  stopping: 'object',
  forcing: 'object',
  logger: { ...portRules.logger, optional: false },
  telemetry: { ...portRules.telemetry, optional: false },
  clock: { ...portRules.clock, optional: false },
  random: 'function',
}

/** Refusals of the message itself, before anything was sent. */
const refusals: ReadonlySet<string> = new Set(['HEADER_INVALID', 'MESSAGE_TOO_LARGE'])
const waits = { initialDelayMs: 200, multiplier: 2, maxDelayMs: 30_000, jitter: 'equal' } as const
const duration = {
  scope: 'LiteBus.Transport',
  name: 'litebus.consumer.handoff.duration',
  unit: 'ms',
} as const
/** A publish answers once its signal has aborted; one that does not must not be waited for. */
const afterAbortMs = 5000
const unanswered: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'PUBLISH_UNANSWERED' },
}

/** A copy on its way. */
interface OpenHop {
  /** As it is published now. */
  copy: OutboundMessage
  /** Whether everything that can be left out is left out. */
  stripped: boolean
  /** Until when its original may be held. */
  readonly heldUntil: number
  /** Aborts when the subscription that the original is from was given up; a later one is none of its business. */
  readonly givenUp: AbortSignal
  /** Whether there is another place for what can never be published. */
  readonly answersRefusal: boolean
}

type Unconfirmed = Exclude<PublishOutcome, { readonly status: 'confirmed' }>

/** What a copy without anything that can be left out may be spared. */
function mayFitStripped(outcome: PublishOutcome): boolean {
  return outcome.status === 'rejected' && refusals.has(outcome.failure.code)
}

/** Refused for its body. Anything else that is refused of a stripped copy is the name of the place, which is no fault of it. */
function isUnpublishable(outcome: PublishOutcome): boolean {
  return outcome.status === 'rejected' && isTooLarge(outcome.failure)
}

function isTooLarge({ code }: Failure): boolean {
  return code === publishFailures.messageTooLarge.code
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
      const publishing = transport.publisher.publish([copy], { signal: controller.signal })
      const [outcome] = await within(clock, options.publishTimeoutMs + afterAbortMs, publishing)
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
  const giveUp = ({ destination, delayMs }: OutboundMessage, lastFailure: Failure): void => {
    if (isTooLarge(lastFailure)) {
      logger.error(
        'a copy can never be published: deliveries go back, and none is taken until the consumer is started again; raise the size limit of the destination, or give the source a dead-letter place of its own',
        { destination, code: lastFailure.code },
      )
      // To take it again would spend its deliveries, and in the end the broker would drop it.
      givingUp.giveUp((signal) => sleep(clock, maxTimerMs, signal))
      return
    }
    logger.error('a handoff failed for as long as deliveries may be held: they go back', { destination })
    givingUp.giveUp(async (signal) => {
      const probe = (): Promise<void> =>
        transport.probe(destination, delayMs === undefined ? {} : { delayMs })
      await untilProbed({ probe, waits, clock, random }, signal)
    })
  }
  /** One publish; what the broker refuses for its form is stripped first. */
  const publishAnyForm = async (hop: OpenHop): Promise<PublishOutcome> => {
    const outcome = await publish(hop.copy)
    if (!mayFitStripped(outcome) || hop.stripped) return outcome
    // Trying again would not change it, and holding it would stop everything behind it for ever.
    hop.copy = bareCopy(hop.copy)
    hop.stripped = true
    return publish(hop.copy)
  }
  /** Tries again until it is confirmed, cannot be held any longer, or a stop ends it. */
  const goOn = async (hop: OpenHop, first: Unconfirmed): Promise<HandoffResult> => {
    let last = first
    let mayBeTaken = first.status === 'ambiguous'
    const ended = (): HandoffResult | undefined => {
      if (forcing.aborted) return mayBeTaken ? 'cancelled' : 'failed'
      return hop.givenUp.aborted || (stopping.aborted && !mayBeTaken) ? 'failed' : undefined
    }
    for (let attempt = 1; ended() === undefined; attempt++) {
      if (hop.answersRefusal && isUnpublishable(last) && !mayBeTaken) return 'unpublishable'
      const left = hop.heldUntil - clock.monotonic()
      if (left <= 0) {
        giveUp(hop.copy, last.failure)
        break
      }
      const wakers = stopping.aborted ? [forcing, hop.givenUp] : [stopping, hop.givenUp]
      const delayMs = Math.min(left, backoffDelayMs(attempt, waits, random))
      await sleep(clock, delayMs, AbortSignal.any(wakers))
      if (ended() !== undefined) break
      const outcome = await publishAnyForm(hop)
      if (outcome.status === 'confirmed') return 'confirmed'
      mayBeTaken ||= outcome.status === 'ambiguous'
      last = outcome
    }
    return ended() ?? 'failed'
  }
  const handOff = async (hop: OpenHop): Promise<HandoffResult> => {
    const first = await publishAnyForm(hop)
    if (first.status === 'confirmed') return 'confirmed'
    if (hop.answersRefusal && isUnpublishable(first)) return 'unpublishable'
    begin(hop.copy.destination, first.failure)
    try {
      return await goOn(hop, first)
    } finally {
      end()
    }
  }
  const tellRefusal = ({ copy }: OpenHop): void => {
    const { destination, body } = copy
    logger.error('a copy can never be published: its original is parked elsewhere', {
      destination,
      bytes: body.byteLength,
    })
  }
  return {
    async deliver(copy, heldUntil, { whenRefused = 'hold' } = {}) {
      const startedAt = clock.monotonic()
      const answersRefusal = whenRefused === 'answer'
      const hop = { copy, heldUntil, givenUp: givingUp.signal, answersRefusal, stripped: false }
      const result = await handOff(hop)
      if (result === 'unpublishable') tellRefusal(hop)
      telemetry.record(duration, clock.monotonic() - startedAt, { outcome: result })
      return result
    },
  }
}
