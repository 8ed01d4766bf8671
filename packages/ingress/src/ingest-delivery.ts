import {
  settleDelivery,
  type SettlementBudget,
  type SettlementDecision,
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
import type { Acceptor } from './acceptor.ts'
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
  readonly acceptor: Acceptor
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

/** Log event: the broker was not told that an accepted message is done. */
const eventAckFailed = 3004

/**
 * Maps one delivery, tries until the inbox has it, and only then accepts it at the broker; unless the policy decides
 * otherwise, the hold limit is over, or a stop is asked for. It may be held from `takenAtMs` of the monotonic clock on,
 * when it came.
 */
export async function ingestDelivery(
  delivery: Delivery,
  context: IngestContext,
  takenAtMs: number,
): Promise<SettlementTerminal> {
  const { options, acceptor, discarder, outage, stopping, budget } = context
  const { givenUp } = outage
  const heldUntil = takenAtMs + options.holdLimitMs
  let item: WriteItem | undefined
  let unavailable = false
  let last: unknown
  for (let attempt = 1; ; attempt++) {
    try {
      if (item === undefined) {
        const mapped = context.map(delivery)
        item = mapped instanceof Promise ? await mappedInTime(mapped, options) : mapped
      }
      await acceptor.accept(item)
      break
    } catch (error) {
      last = error
      const failure = IngressAckPolicy.unwrapException(error)
      const metOutage = unavailable
      unavailable = isLiteBusError(failure, 'STORE_UNAVAILABLE')
      // What was given up fails late: by then the store may be back, and nobody would be left to say so.
      if (unavailable && !isAborted(givenUp)) outage.began()
      // Whoever met the outage says that it is over, whatever the answer now is: nobody else might.
      else if (metOutage) outage.ended()
      const held = unavailable || isLiteBusError(failure, 'DUPLICATE_IN_FLIGHT')
      if (!held) return byPolicy(delivery, { error, takenAtMs }, context)
    }
    if (stopping.aborted || givenUp.aborted) return settleDelivery(delivery, { act: 'return' }, budget)
    const leftMs = heldUntil - options.clock.monotonic()
    if (leftMs <= 0) {
      if (!unavailable) return requeue(delivery, last, context)
      outage.giveUp()
      return settleDelivery(delivery, { act: 'return' }, budget)
    }
    await outage.wait({ attempt, leftMs, givenUp })
    if (isAborted(givenUp)) return settleDelivery(delivery, { act: 'return' }, budget)
  }
  outage.ended()
  discarder.accepted()
  return acknowledge(delivery, context)
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
async function byPolicy(
  delivery: Delivery,
  { error, takenAtMs }: { readonly error: unknown; readonly takenAtMs: number },
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

const accept: SettlementDecision = { act: 'accept' }

/** The row stands; if the broker cannot be told, redelivery meets it. */
function acknowledge(delivery: Delivery, { options, budget }: IngestContext): Promise<SettlementTerminal> {
  return settleDelivery(delivery, accept, budget).then((terminal) => {
    if (terminal !== 'acked') {
      options.telemetry.count({ scope: 'LiteBus.Inbox', name: 'ingress.ack_failed_after_accept' }, 1)
      options.logger.error('broker accept failed after the inbox had accepted', {
        eventId: eventAckFailed,
        source: options.source,
        terminal,
      })
    }
    return terminal
  })
}
