import {
  backoffDelayMs,
  classifyFailure,
  decideRetry,
  readHeaders,
  sleep,
  type Delivery,
  type Failure,
  type ReturnOptions,
  type WireMetadata,
} from '@litebus/core'
import { admit, isOversize } from './admission.ts'
import { attemptOf, type Attempt } from './attempt.ts'
import type { ConsumeContext } from './consume-context.ts'
import type { ResolvedConsumerOptions } from './consumer-options.ts'
import type { SettlementTerminal } from './ledger.ts'
import { messageIdOf } from './message-id.ts'
import { handOff, park, type Failed } from './park-delivery.ts'
import { runHandler } from './run-handler.ts'
import { settleDelivery } from './settle-delivery.ts'

interface Admitted {
  readonly metadata: WireMetadata
  readonly attempt: Attempt
}

/** Admits, handles and settles one delivery. */
export async function consumeDelivery(
  delivery: Delivery,
  context: ConsumeContext,
): Promise<SettlementTerminal> {
  const { options } = context
  const messageId = messageIdOf(delivery)
  const admitted = readDelivery(delivery, options)
  if ('refused' in admitted) {
    const refused = { messageId, failure: admitted.refused, attempt: 1, copies: 0, delayMs: 0 }
    const oversize = isOversize(delivery.message, options.maxMessageBytes)
    return park(delivery, { ...refused, refusal: oversize ? 'oversize' : 'metadata' }, context)
  }
  const { metadata, attempt } = admitted
  if ((delivery.deliveryCount ?? 1) > options.maxDeliveries) {
    const failure = { category: 'UNKNOWN', code: 'DELIVERY_LIMIT_EXCEEDED' } as const
    return park(delivery, { ...attempt, messageId, failure, delayMs: 0 }, context)
  }
  try {
    return await handleUntilSettled(delivery, { messageId, metadata, first: attempt }, context)
  } finally {
    context.outage?.release(delivery)
  }
}

/** What the headers say, or why they are refused; any refusal is the fault of the delivery. */
function readDelivery(
  delivery: Delivery,
  { maxMessageBytes, trustApplicationHeaders, clock }: ResolvedConsumerOptions,
): Admitted | { readonly refused: Failure } {
  try {
    admit(delivery.message, maxMessageBytes)
    const metadata = readHeaders(delivery.message, { trustApplicationHeaders, nowMs: clock.now() })
    return { metadata, attempt: attemptOf(delivery) }
  } catch (error) {
    return { refused: { ...classifyFailure(error), category: 'VALIDATION' } }
  }
}

interface Handling {
  readonly messageId: string
  readonly metadata: WireMetadata
  readonly first: Attempt
}

async function handleUntilSettled(
  delivery: Delivery,
  { messageId, metadata, first }: Handling,
  context: ConsumeContext,
): Promise<SettlementTerminal> {
  const { options, stopping, forcing } = context
  for (let attempt = first; ;) {
    const { message } = delivery
    const run = { message, metadata, messageId, attempt: attempt.attempt, stopping, forcing }
    const outcome = await (context.dedup === undefined
      ? runHandler(run, context.handlers, options)
      : context.dedup.run(run, context.takenAtMs + options.holdLimitMs))
    if (outcome.kind === 'succeeded') context.timeouts?.succeeded()
    if (outcome.kind === 'succeeded' || outcome.kind === 'duplicate') {
      return settleDelivery(delivery, { act: 'accept' }, context.budget)
    }
    if (outcome.kind !== 'failed') {
      const delayMs = outcome.kind === 'heldTooLong' ? heldTooLongDelayMs : 0
      return settleDelivery(delivery, { act: 'return', options: { delayMs } }, context.budget)
    }
    attempt = { ...attempt, firstFailureAt: attempt.firstFailureAt ?? new Date(options.clock.now()) }
    const delayMs =
      outcome.retryAfterMs ?? backoffDelayMs(attempt.attempt, context.retry.backoff, options.random)
    const failed: Failed = { ...attempt, messageId, failure: outcome.failure, delayMs }
    const terminal = await meet(delivery, failed, context)
    if (terminal === 'nextAttempt') attempt = { ...attempt, attempt: attempt.attempt + 1 }
    else if (terminal !== 'sameAttempt') return terminal
  }
}

/**
 * Does what the decision engine says. `nextAttempt` runs the handler once more here; so does `sameAttempt`, after an
 * attempt that an outage of a dependency took, which is given back.
 */
async function meet(
  delivery: Delivery,
  failed: Failed,
  context: ConsumeContext,
): Promise<SettlementTerminal | 'nextAttempt' | 'sameAttempt'> {
  const { options, retry, stopping, budget } = context
  const { orderedStream, pausable } = options.transport.capabilitiesOf(options.source)
  const copies = retry.retryDestination ?? options.source
  const { delayedDelivery, maxDelayMs } = options.transport.capabilitiesOf(copies)
  const { action, step } = decideRetry({
    category: failed.failure.category,
    attempt: failed.attempt,
    profile: retry,
    capabilities: { orderedStream, delayedDelivery },
  })
  switch (action) {
    case 'deadLetter':
      // What is permanent by its category parks in any case: waiting does not change it.
      return step !== 1 && standsStill(failed, context)
        ? waitOutOutage(delivery, failed, context)
        : park(delivery, failed, context)
    case 'reject':
      return settleDelivery(delivery, { act: 'discard', reason: failed.failure.code }, budget)
    case 'pauseAndRetry':
      return pausable
        ? settleDelivery(delivery, { act: 'return', options: carried(failed) }, budget)
        : retryHere(delivery, failed, context)
    case 'publishToRetryDestination': {
      // A handler may ask for more than the broker can delay: the rest is waited for here, so that no copy is early.
      const restMs = delayedDelivery ? failed.delayMs - maxDelayMs : 0
      if (restMs > 0) await waitHere(restMs, context)
      if (restMs > 0 && stopping.aborted) return settleDelivery(delivery, { act: 'return' }, budget)
      return handOff(delivery, { kind: 'retry', destination: copies, failed }, context)
    }
    case 'retryInline':
      return retryHere(delivery, failed, context)
  }
}

/** Pause before the broker may deliver again what was held for as long as it may. */
const heldTooLongDelayMs = 1000

/** Waits here, with what comes behind it in its lane. What may not be held for so long goes back once. */
async function retryHere(
  delivery: Delivery,
  failed: Failed,
  context: ConsumeContext,
): Promise<SettlementTerminal | 'nextAttempt'> {
  const { stopping, budget } = context
  const waited = await waitHere(failed.delayMs, context)
  if (waited && !stopping.aborted) return 'nextAttempt'
  const delayMs = stopping.aborted ? 0 : heldTooLongDelayMs
  return settleDelivery(delivery, { act: 'return', options: carried({ ...failed, delayMs }) }, budget)
}

/** Waits as long as it may hold the delivery, or until a stop; false when that was less than it should. */
async function waitHere(
  delayMs: number,
  { options: { clock, holdLimitMs }, stopping, takenAtMs }: ConsumeContext,
): Promise<boolean> {
  const leftMs = Math.max(0, takenAtMs + holdLimitMs - clock.monotonic())
  await sleep(clock, Math.min(delayMs, leftMs), stopping)
  return delayMs <= leftMs
}

/** What the transport carries across a return. */
function carried({ delayMs, attempt, copies, firstFailureAt }: Failed): ReturnOptions {
  return {
    delayMs,
    // What copies made is in the header of the message and must not be counted twice.
    attempt: attempt - copies,
    ...(firstFailureAt === undefined ? {} : { firstFailureAt }),
  }
}

/** Whether a message may not be parked now, because others were for want of an answer. */
function standsStill({ failure }: Failed, { timeouts }: ConsumeContext): boolean {
  return timeouts !== undefined && timeouts.applies(failure.category) && !timeouts.take()
}

async function waitOutOutage(
  delivery: Delivery,
  { failure }: Failed,
  { options, outage, takenAtMs, budget }: ConsumeContext,
): Promise<SettlementTerminal | 'sameAttempt'> {
  const answer = await outage?.hold(delivery, failure, takenAtMs + options.holdLimitMs)
  return answer === 'again' ? 'sameAttempt' : settleDelivery(delivery, { act: 'return' }, budget)
}
