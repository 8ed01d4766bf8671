import {
  acceptAfterHandoff,
  discardDelivery,
  hopCopy,
  returnDelivery,
  type Handoff,
  type Intake,
  type SettlementBudget,
  type SettlementTerminal,
} from '@litebus/consumer'
import { classifyFailure, type Delivery } from '@litebus/core'
import type { ResolvedIngressOptions } from './ingress-options.ts'

/** Takes deliveries off their source that can never be accepted. */
export interface Discarder {
  /** Discards one, after a confirmed copy where one is asked for. */
  discard(delivery: Delivery, error: unknown): Promise<SettlementTerminal>
  /** Something was accepted: discards in a row start again. */
  accepted(): void
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

  const settle = async (delivery: Delivery, code: string, error: unknown): Promise<SettlementTerminal> => {
    if (onDiscard === undefined) return discardDelivery(delivery, budget, code)
    const now = new Date(clock.now())
    const messageId = delivery.message.messageId ?? delivery.deliveryId ?? 'unknown'
    const copy = hopCopy(delivery.message, messageId, {
      kind: 'deadLetter',
      destination: onDiscard.deadLetter,
      failure: classifyFailure(error),
      attempt: 1,
      firstFailureAt: now,
      lastFailureAt: now,
    })
    const confirmed = await handoff.deliver(copy, clock.monotonic() + options.holdLimitMs)
    return confirmed
      ? acceptAfterHandoff(delivery, budget, 'acked_dead_letter')
      : returnDelivery(delivery, budget)
  }
  return {
    async discard(delivery, error) {
      const { code } = classifyFailure(error)
      const terminal = await settle(delivery, code, error)
      if (terminal === 'discarded' || terminal === 'acked_dead_letter') {
        logger.warn('delivery discarded', { eventId: eventDiscarded, source, code, terminal })
      }
      inARow += 1
      if (limit !== undefined && inARow === limit) {
        intake.pause('discards')
        logger.error('intake stands still: too many discards in a row', { source, discards: inARow })
      }
      return terminal
    },
    accepted() {
      inARow = 0
    },
  }
}
