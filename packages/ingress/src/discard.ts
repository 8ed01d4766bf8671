import {
  hopCopy,
  isOversize,
  messageIdOf,
  settleDelivery,
  type Handoff,
  type Intake,
  type SettlementBudget,
  type SettlementTerminal,
} from '@litebus/consumer'
import {
  checkHeaderBounds,
  classifyFailure,
  sleep,
  type Delivery,
  type Failure,
  type Headers,
} from '@litebus/core'
import { discardReason } from './discard-reason.ts'
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
  readonly intake: Pick<Intake, 'pause' | 'resume'>
  /** Publishes copies. */
  readonly handoff: Handoff
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

/** Log event: a delivery was discarded. */
const eventDiscarded = 3005

/** Starts with no discard in a row. */
export function createDiscarder({ options, intake, handoff, budget, stopping }: DiscarderOptions): Discarder {
  const { clock, logger, onDiscard, pauseAfterConsecutiveDiscards: limit, source } = options
  let inARow = 0
  /** There while intake stands still for too many discards; aborts when it goes on. */
  let standing: AbortController | undefined

  const settle = async (
    delivery: Delivery,
    failure: Failure,
    takenAtMs: number,
  ): Promise<SettlementTerminal> => {
    const oversize = isOversize(delivery.message, options.maxMessageBytes)
    // A body over the limit is not copied where the broker has a place for it.
    const native = oversize && options.transport.capabilitiesOf(source).nativeDeadLetter
    if (onDiscard === undefined || native)
      return settleDelivery(delivery, { act: 'discard', reason: failure.code }, budget)
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
    const heldUntil = takenAtMs + options.holdLimitMs
    // What no place for dead letters takes would otherwise be held and given back without end.
    const decision = { act: 'deadLetter', copy, handoff, heldUntil, mayDiscard: true } as const
    return settleDelivery(delivery, decision, budget)
  }
  const stand = (): void => {
    if (limit === undefined || inARow < limit || standing !== undefined) return
    standing = new AbortController()
    intake.pause('discards')
    logger.error('intake stands still: too many discards in a row', { source, discards: inARow })
  }
  const goOn = (): void => {
    intake.resume('discards')
    standing?.abort()
    standing = undefined
  }
  /**
   * Counts one before it is done, since by the time the broker has answered the next ones are here. Deliveries that
   * were in flight when intake stopped wait for the operator too. False: they may not any longer.
   */
  const mayDiscard = async (takenAtMs: number): Promise<boolean> => {
    while (standing !== undefined) {
      const leftMs = takenAtMs + options.holdLimitMs - clock.monotonic()
      if (leftMs <= 0 || stopping.aborted) return false
      await sleep(clock, leftMs, AbortSignal.any([stopping, standing.signal]))
    }
    inARow += 1
    stand()
    return true
  }
  return {
    async discard(delivery, error, takenAtMs) {
      if (!(await mayDiscard(takenAtMs))) return settleDelivery(delivery, { act: 'return' }, budget)
      const failure = classifyFailure(error)
      const terminal = await settle(delivery, failure, takenAtMs)
      if (terminal === 'returned' || terminal === 'pending_redelivery') {
        inARow = Math.max(0, inARow - 1)
        if (limit !== undefined && inARow < limit) goOn()
        return terminal
      }
      const { code } = failure
      const fields = { eventId: eventDiscarded, source, code, terminal }
      logger.warn('delivery discarded', { ...fields, ...discardReason(error) })
      return terminal
    },
    accepted() {
      inARow = 0
    },
    startAgain() {
      inARow = 0
      goOn()
    },
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
