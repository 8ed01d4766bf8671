import {
  settleDelivery,
  type SettlementBudget,
  type SettlementTerminal,
  type StoreOutage,
} from '@litebus/consumer'
import {
  backoffDelayMs,
  IngressAckPolicy,
  inTime,
  isLiteBusError,
  type Delivery,
  type WriteItem,
} from '@litebus/core'
import type { Accepting, Acceptor } from './acceptor.ts'
import type { Discarder } from './discard.ts'
import type { ResolvedIngressOptions } from './ingress-options.ts'
import type { MapDelivery } from './map-delivery.ts'
import type { RequeueLog } from './requeue-log.ts'

/** What ingesting one delivery works with. */
export interface IngestContext {
  /** Options of the ingress. */
  readonly options: ResolvedIngressOptions
  /** Turns deliveries into what the inbox accepts. */
  readonly map: MapDelivery
  /** Writes into the inbox. */
  readonly acceptor: Acceptor<Ingesting>
  /** Takes off what can never be accepted. */
  readonly discarder: Discarder
  /** Tells what goes back. */
  readonly requeues: RequeueLog
  /** What is known about the store. */
  readonly outage: StoreOutage
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

/** A delivery on its way into the inbox. */
export interface Ingesting extends Accepting {
  /** The delivery. */
  readonly delivery: Delivery
  /** It is stored, and this is its end. */
  ended(terminal: SettlementTerminal | Promise<SettlementTerminal>): void
}

/**
 * Maps one delivery, tries until the inbox has it, and only then accepts it at the broker; unless the policy decides
 * otherwise, the hold limit is over, or a stop is asked for. It may be held from `takenAtMs` of the monotonic clock on,
 * when it came. Where all goes well it costs one promise: thousands come in a second.
 */
export function ingestDelivery(
  delivery: Delivery,
  context: IngestContext,
  takenAtMs: number,
): Promise<SettlementTerminal> {
  const arrival: Arrival = { delivery, takenAtMs, givenUp: context.outage.givenUp }
  try {
    const mapped = context.map(delivery)
    return mapped instanceof Promise
      ? mappedInTime(mapped, context.options).then(
          (item) => acceptFirst(arrival, item, context),
          (error: unknown) => holdDelivery({ ...arrival, error }, context),
        )
      : acceptFirst(arrival, mapped, context)
  } catch (error) {
    return holdDelivery({ ...arrival, error }, context)
  }
}

/** A delivery as it came. */
interface Arrival {
  readonly delivery: Delivery
  readonly takenAtMs: number
  /** Aborts when what came with it must go back; a later subscription gets another one. */
  readonly givenUp: AbortSignal
}

function acceptFirst(arrival: Arrival, item: WriteItem, context: IngestContext): Promise<SettlementTerminal> {
  return new Promise((resolve) => {
    context.acceptor.accept({
      delivery: arrival.delivery,
      item,
      ended: resolve,
      failed: (error) => {
        resolve(holdDelivery({ ...arrival, item, error }, context))
      },
    })
  })
}

/** A delivery whose first attempt has failed. */
interface Held extends Arrival {
  /** What the inbox accepts; undefined where mapping it has failed. */
  readonly item?: WriteItem
  /** What the attempt threw. */
  readonly error: unknown
}

/** Decides what follows from a failed attempt, and makes the other ones. */
async function holdDelivery(held: Held, context: IngestContext): Promise<SettlementTerminal> {
  const { delivery, takenAtMs, givenUp } = held
  const { options, outage, stopping, budget } = context
  const heldUntil = takenAtMs + options.holdLimitMs
  let { item, error } = held
  let unavailable = false
  for (let attempt = 1; ; attempt++) {
    const failure = IngressAckPolicy.unwrapException(error)
    const metOutage = unavailable
    unavailable = isLiteBusError(failure, 'STORE_UNAVAILABLE')
    // What was given up fails late: by then the store may be back, and nobody would be left to say so.
    if (unavailable && !givenUp.aborted) outage.began()
    // Whoever met the outage says that it is over, whatever the answer now is: nobody else might.
    else if (metOutage) outage.ended()
    const isHeld = unavailable || isLiteBusError(failure, 'DUPLICATE_IN_FLIGHT')
    if (!isHeld) return byPolicy(held, error, context)
    if (stopping.aborted || givenUp.aborted) return settleDelivery(delivery, { act: 'return' }, budget)
    const leftMs = heldUntil - options.clock.monotonic()
    if (leftMs <= 0) {
      if (!unavailable) return requeue(delivery, error, context)
      outage.giveUp()
      return settleDelivery(delivery, { act: 'return' }, budget)
    }
    await outage.wait({ attempt, leftMs, givenUp })
    if (isAborted(givenUp)) return settleDelivery(delivery, { act: 'return' }, budget)
    try {
      item ??= await mappedInTime(Promise.resolve(context.map(delivery)), options)
    } catch (again) {
      error = again
      continue
    }
    const answer = await acceptHeld(delivery, item, context)
    if ('ended' in answer) return answer.ended
    error = answer.failed
  }
}

type HeldAnswer =
  { readonly ended: SettlementTerminal | Promise<SettlementTerminal> } | { readonly failed: unknown }

/** One more attempt. */
function acceptHeld(delivery: Delivery, item: WriteItem, { acceptor }: IngestContext): Promise<HeldAnswer> {
  return new Promise((resolve) => {
    acceptor.accept({
      delivery,
      item,
      ended: (terminal) => {
        resolve({ ended: terminal })
      },
      failed: (error) => {
        resolve({ failed: error })
      },
    })
  })
}

/** Asked again after a wait, which type checking does not see. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

/** Callbacks and schemas are code of the application: one that never answers must not keep a delivery for ever. */
function mappedInTime(
  mapping: Promise<WriteItem>,
  { clock, executionBudgetMs: limitMs }: ResolvedIngressOptions,
): Promise<WriteItem> {
  const onLate = (): Error =>
    new DOMException(`expected a delivery to be mapped within ${String(limitMs)} ms`, 'TimeoutError')
  return inTime(mapping, { clock, limitMs, onLate })
}

/** Requeue or discard; see the ack policy. */
function byPolicy(
  { delivery, takenAtMs }: Held,
  error: unknown,
  context: IngestContext,
): Promise<SettlementTerminal> {
  return IngressAckPolicy.shouldRequeue(error, context.options.requeueOnFailure)
    ? requeue(delivery, error, context)
    : context.discarder.discard(delivery, error, takenAtMs)
}

function requeue(
  delivery: Delivery,
  error: unknown,
  { options, budget, requeues }: IngestContext,
): Promise<SettlementTerminal> {
  requeues.wentBack(error)
  const delayMs = backoffDelayMs(delivery.deliveryCount ?? 1, options.requeueBackoff, options.random)
  return settleDelivery(delivery, { act: 'return', options: { delayMs } }, budget)
}
