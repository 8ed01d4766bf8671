import {
  backoffDelayMs,
  sleep,
  type Clock,
  type Logger,
  type OutboundMessage,
  type Transport,
} from '@litebus/core'
import type { Intake } from './intake.ts'

/** Publishes the copy of a hop until the broker has confirmed it, while the source delivery can be held. */
export interface Handoff {
  /**
   * True once confirmed: the source may be settled. False when the hold limit or a stop came first: the source must
   * go back. The same copy is published each time, so that a destination that deduplicates takes it once.
   */
  deliver(copy: OutboundMessage, heldUntil: number): Promise<boolean>
}

/** What a handoff works with. */
export interface HandoffOptions {
  /** The broker. */
  readonly transport: Transport
  /** Paused while a handoff fails. */
  readonly intake: Pick<Intake, 'pause' | 'resume'>
  /** How long one publish may take. */
  readonly publishTimeoutMs: number
  /** Aborts when the consumer stops. */
  readonly stopping: AbortSignal
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const waits = { initialDelayMs: 200, multiplier: 2, maxDelayMs: 30_000, jitter: 'equal' } as const

/** Starts with no handoff under way. */
export function createHandoff(options: HandoffOptions): Handoff {
  const { transport, intake, stopping, logger, clock, random } = options
  let failing = 0

  const publish = async (copy: OutboundMessage): Promise<boolean> => {
    const controller = new AbortController()
    const timer = clock.schedule(options.publishTimeoutMs, () => {
      controller.abort()
    })
    try {
      const [outcome] = await transport.publisher.publish([copy], { signal: controller.signal })
      return outcome?.status === 'confirmed'
    } catch {
      return false
    } finally {
      timer.cancel()
    }
  }
  const begin = (destination: string): void => {
    failing += 1
    if (failing > 1) return
    intake.pause('handoff')
    logger.error('handoff failed: intake stands still and the handoff is tried again', { destination })
  }
  const end = (destination: string): void => {
    failing -= 1
    if (failing > 0) return
    intake.resume('handoff')
    logger.info('no handoff is failing any more', { destination })
  }
  return {
    async deliver(copy, heldUntil) {
      if (await publish(copy)) return true
      begin(copy.destination)
      try {
        for (let attempt = 1; clock.monotonic() < heldUntil && !stopping.aborted; attempt++) {
          await sleep(clock, backoffDelayMs(attempt, waits, random), stopping)
          if (await publish(copy)) return true
        }
        return false
      } finally {
        end(copy.destination)
      }
    },
  }
}
