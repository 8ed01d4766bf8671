import {
  backoffDelayMs,
  classifyFailure,
  decideRetry,
  readHeaders,
  resolveRetryProfile,
  sleep,
  type Delivery,
  type Failure,
  type HandlerRegistry,
  type WireMetadata,
} from '@litebus/core'
import { admit } from './admission.ts'
import { attemptOf, type Attempt } from './attempt.ts'
import type { ResolvedConsumerOptions } from './consumer-options.ts'
import type { Handoff } from './handoff.ts'
import { hopCopy } from './hop-copy.ts'
import type { SettlementTerminal } from './ledger.ts'
import { runHandler } from './run-handler.ts'
import {
  acceptAfterHandoff,
  acceptDelivery,
  discardDelivery,
  returnDelivery,
  type SettlementBudget,
} from './settle-delivery.ts'

/** What consuming one delivery works with. */
export interface ConsumeContext {
  /** Options of the consumer. */
  readonly options: ResolvedConsumerOptions
  /** Handlers by contract. */
  readonly handlers: HandlerRegistry<unknown>
  /** Publishes copies. */
  readonly handoff: Handoff
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

interface Failed extends Attempt {
  readonly failure: Failure
  readonly delayMs: number
}

/** Admits, handles and settles one delivery. */
export async function consumeDelivery(
  delivery: Delivery,
  context: ConsumeContext,
): Promise<SettlementTerminal> {
  const { options, stopping } = context
  let metadata: WireMetadata
  let attempt: Attempt
  try {
    admit(delivery.message, options.maxMessageBytes)
    const { trustApplicationHeaders } = options
    metadata = readHeaders(delivery.message, { trustApplicationHeaders, nowMs: options.clock.now() })
    attempt = attemptOf(delivery)
  } catch (error) {
    const failure = { ...classifyFailure(error), category: 'VALIDATION' as const }
    return park(delivery, { failure, attempt: 1, delayMs: 0 }, context)
  }
  if ((delivery.deliveryCount ?? 1) > options.maxDeliveries) {
    const failure = { category: 'UNKNOWN', code: 'DELIVERY_LIMIT_EXCEEDED' } as const
    return park(delivery, { ...attempt, failure, delayMs: 0 }, context)
  }
  const messageId = idOf(delivery, metadata)
  for (;;) {
    const run = { message: delivery.message, metadata, messageId, attempt: attempt.attempt, stopping }
    const outcome = await runHandler(run, context.handlers, options)
    if (outcome.kind === 'succeeded') return (await acceptDelivery(delivery, context.budget)).terminal
    if (stopping.aborted && outcome.failure.category === 'CANCELLED') {
      return returnDelivery(delivery, context.budget)
    }
    attempt = { ...attempt, firstFailureAt: attempt.firstFailureAt ?? new Date(options.clock.now()) }
    const { backoff } = options.retry
    const delayMs = outcome.retryAfterMs ?? backoffDelayMs(attempt.attempt, backoff ?? {}, options.random)
    const failed: Failed = { ...attempt, failure: outcome.failure, delayMs }
    const terminal = await meet(delivery, failed, context)
    if (terminal !== 'again') return terminal
    attempt = { ...attempt, attempt: attempt.attempt + 1 }
  }
}

/** Does what the decision engine says; `again` runs the handler once more here. */
async function meet(
  delivery: Delivery,
  failed: Failed,
  context: ConsumeContext,
): Promise<SettlementTerminal | 'again'> {
  const { options, stopping, budget } = context
  const { action } = decideRetry({
    category: failed.failure.category,
    attempt: failed.attempt,
    profile: resolveRetryProfile(options.retry),
    capabilities: options.transport.capabilitiesOf(options.source),
  })
  switch (action) {
    case 'deadLetter':
      return park(delivery, failed, context)
    case 'reject':
      return discardDelivery(delivery, budget, failed.failure.code)
    case 'pauseAndRetry':
      return returnDelivery(delivery, budget, {
        delayMs: failed.delayMs,
        attempt: failed.attempt + 1,
        ...(failed.firstFailureAt === undefined ? {} : { firstFailureAt: failed.firstFailureAt }),
      })
    case 'publishToRetryDestination':
      return handOff(
        delivery,
        { kind: 'retry', destination: options.retry.retryDestination ?? options.source, failed },
        context,
      )
    case 'retryInline':
      await sleep(options.clock, failed.delayMs, stopping)
      return stopping.aborted ? returnDelivery(delivery, budget) : 'again'
  }
}

/** A dead-letter copy where one is configured, else the place that the broker has for them. */
function park(delivery: Delivery, failed: Failed, context: ConsumeContext): Promise<SettlementTerminal> {
  const { deadLetterDestination } = context.options.retry
  if (deadLetterDestination === undefined) {
    return discardDelivery(delivery, context.budget, failed.failure.code)
  }
  return handOff(delivery, { kind: 'deadLetter', destination: deadLetterDestination, failed }, context)
}

/** Copy, confirmation, and only then the original is accepted; without a confirmation it goes back. */
async function handOff(
  delivery: Delivery,
  {
    kind,
    destination,
    failed,
  }: { readonly kind: 'retry' | 'deadLetter'; readonly destination: string; readonly failed: Failed },
  { options, handoff, budget }: ConsumeContext,
): Promise<SettlementTerminal> {
  const { clock } = options
  const now = new Date(clock.now())
  const delayed = kind === 'retry' && options.transport.capabilitiesOf(destination).delayedDelivery
  const copy = hopCopy(delivery.message, idOf(delivery), {
    kind,
    destination,
    failure: failed.failure,
    attempt: failed.attempt,
    firstFailureAt: failed.firstFailureAt ?? now,
    lastFailureAt: now,
    ...(delayed ? { delayMs: failed.delayMs } : {}),
  })
  if (!(await handoff.deliver(copy, clock.monotonic() + options.holdLimitMs)))
    return returnDelivery(delivery, budget)
  return acceptAfterHandoff(delivery, budget, kind === 'retry' ? 'acked_retry' : 'acked_dead_letter')
}

function idOf({ message, deliveryId }: Delivery, metadata?: WireMetadata): string {
  return message.messageId ?? metadata?.messageId ?? deliveryId ?? 'unknown'
}
