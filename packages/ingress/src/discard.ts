import {
  acceptAfterHandoff,
  discardDelivery,
  hopCopy,
  isOversize,
  messageIdOf,
  returnDelivery,
  type Handoff,
  type Intake,
  type SettlementBudget,
  type SettlementTerminal,
} from '@litebus/consumer'
import { checkHeaderBounds, classifyFailure, type Delivery, type Failure, type Headers } from '@litebus/core'
import type { ResolvedIngressOptions } from './ingress-options.ts'

/** Takes deliveries off their source that can never be accepted. */
export interface Discarder {
  /** Discards one, after a confirmed copy where one is asked for. */
  discard(delivery: Delivery, error: unknown, takenAtMs: number): Promise<SettlementTerminal>
  /** Something was accepted: discards in a row start again. */
  accepted(): void
  /** An operator has looked: discards in a row start again. */
  startAgain(): void
}

/** What discarding works with. */
export interface DiscarderOptions {
  /** Options of the ingress. */
  readonly options: ResolvedIngressOptions
  /** The subscription. */
  readonly intake: Pick<Intake, 'pause'>
  /** Publishes copies. */
  readonly handoff: Handoff
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

/** Log event: a delivery was discarded. */
const eventDiscarded = 3005

/** Starts with no discard in a row. */
export function createDiscarder({ options, intake, handoff, budget }: DiscarderOptions): Discarder {
  const { clock, logger, onDiscard, pauseAfterConsecutiveDiscards: limit, source } = options
  let inARow = 0

  const settle = async (
    delivery: Delivery,
    failure: Failure,
    takenAtMs: number,
  ): Promise<SettlementTerminal> => {
    const oversize = isOversize(delivery.message, options.maxMessageBytes)
    // A body over the limit is not copied where the broker has a place for it.
    const native = oversize && options.transport.capabilitiesOf(source).nativeDeadLetter
    if (onDiscard === undefined || native) return discardDelivery(delivery, budget, failure.code)
    const now = new Date(clock.now())
    const copy = hopCopy(delivery.message, messageIdOf(delivery), {
      kind: 'deadLetter',
      destination: onDiscard.deadLetter,
      failure,
      attempt: 1,
      firstFailureAt: now,
      lastFailureAt: now,
      sanitized: oversize || !boundsHold(delivery.message.headers),
    })
    const result = await handoff.deliver(copy, takenAtMs + options.holdLimitMs)
    if (result === 'cancelled') return 'unresolved'
    return result === 'confirmed'
      ? acceptAfterHandoff(delivery, budget, 'acked_dead_letter')
      : returnDelivery(delivery, budget)
  }
  const count = (): void => {
    inARow += 1
    if (inARow !== limit) return
    intake.pause('discards')
    logger.error('intake stands still: too many discards in a row', { source, discards: inARow })
  }
  const startAgain = (): void => {
    inARow = 0
  }
  return {
    async discard(delivery, error, takenAtMs) {
      const failure = classifyFailure(error)
      const terminal = await settle(delivery, failure, takenAtMs)
      // What went back, or will come back, is not discarded; of what is uncertain somebody should know.
      if (terminal === 'returned' || terminal === 'pending_redelivery') return terminal
      const { code } = failure
      logger.warn('delivery discarded', { eventId: eventDiscarded, source, code, terminal })
      count()
      return terminal
    },
    accepted: startAgain,
    startAgain,
  }
}

function boundsHold(headers: Headers): boolean {
  try {
    checkHeaderBounds(headers)
    return true
  } catch {
    return false
  }
}
