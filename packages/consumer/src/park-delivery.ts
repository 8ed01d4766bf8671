import type { Delivery, Failure, OutboundMessage } from '@litebus/core'
import type { Attempt } from './attempt.ts'
import type { ConsumeContext } from './consume-context.ts'
import { hopCopy } from './hop-copy.ts'
import type { SettlementTerminal } from './ledger.ts'
import { settleDelivery } from './settle-delivery.ts'

/** A delivery that was not handled. */
export interface Failed extends Attempt {
  /** Id of its message. */
  readonly messageId: string
  /** Why. */
  readonly failure: Failure
  /** Delay before another attempt. */
  readonly delayMs: number
  /** Why it was not even looked into, if so. */
  readonly refusal?: 'oversize' | 'metadata'
}

type ParkContext = Pick<ConsumeContext, 'options' | 'handoff' | 'budget' | 'takenAtMs'>

/**
 * A dead-letter copy where one is configured, else the place that the broker has for them. A body over the limit goes
 * to that place first: it is not copied where it need not be.
 */
export function park(delivery: Delivery, failed: Failed, context: ParkContext): Promise<SettlementTerminal> {
  const { transport, source, retry } = context.options
  const { deadLetterDestination } = retry
  const native = failed.refusal === 'oversize' && transport.capabilitiesOf(source).nativeDeadLetter
  if (deadLetterDestination === undefined || native) {
    return settleDelivery(delivery, { act: 'discard', reason: failed.failure.code }, context.budget)
  }
  return handOff(delivery, { kind: 'deadLetter', destination: deadLetterDestination, failed }, context)
}

/** A copy of a failed delivery to another destination. */
export interface HandoffRequest {
  /** Kind of the hop. */
  readonly kind: 'retry' | 'deadLetter'
  /** Where the copy goes. */
  readonly destination: string
  /** What failed. */
  readonly failed: Failed
}

/** Copy, confirmation, and only then the original is accepted; without a confirmation it goes back. */
export function handOff(
  delivery: Delivery,
  request: HandoffRequest,
  { options, handoff, budget, takenAtMs }: ParkContext,
): Promise<SettlementTerminal> {
  const { transport, source, retry, clock, holdLimitMs } = options
  const now = new Date(clock.now())
  const copyOf = ({ kind, destination, failed }: HandoffRequest): OutboundMessage => {
    const { delayedDelivery, maxDelayMs } = transport.capabilitiesOf(destination)
    return hopCopy(delivery.message, failed.messageId, {
      kind,
      destination,
      failure: failed.failure,
      attempt: failed.attempt,
      firstFailureAt: failed.firstFailureAt ?? now,
      lastFailureAt: now,
      sanitized: failed.refusal !== undefined,
      ...(kind === 'retry' && delayedDelivery ? { delayMs: Math.min(failed.delayMs, maxDelayMs) } : {}),
    })
  }
  const { deadLetterDestination } = retry
  const parked =
    deadLetterDestination === undefined
      ? undefined
      : (): OutboundMessage =>
          copyOf({ kind: 'deadLetter', destination: deadLetterDestination, failed: request.failed })
  return settleDelivery(
    delivery,
    {
      act: request.kind,
      copy: copyOf(request),
      handoff,
      heldUntil: takenAtMs + holdLimitMs,
      mayDiscard: transport.capabilitiesOf(source).nativeDeadLetter,
      parked,
    },
    budget,
  )
}
