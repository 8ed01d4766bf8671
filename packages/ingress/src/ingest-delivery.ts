import {
  acceptDelivery,
  returnDelivery,
  type SettlementBudget,
  type SettlementTerminal,
} from '@litebus/consumer'
import {
  backoffDelayMs,
  IngressAckPolicy,
  isLiteBusError,
  type ContractRegistry,
  type Delivery,
  type WriteItem,
} from '@litebus/core'
import type { Acceptor } from './acceptor.ts'
import type { Discarder } from './discard.ts'
import type { ResolvedIngressOptions } from './ingress-options.ts'
import { mapDelivery } from './map-delivery.ts'
import type { Outage } from './outage.ts'

/** What ingesting one delivery works with. */
export interface IngestContext {
  /** Options of the ingress. */
  readonly options: ResolvedIngressOptions
  /** Contracts that may come in. */
  readonly contracts: ContractRegistry
  /** Writes into the inbox. */
  readonly acceptor: Acceptor
  /** Takes off what can never be accepted. */
  readonly discarder: Discarder
  /** What is known about the store. */
  readonly outage: Outage
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

/** Log event: the broker was not told that an accepted message is done. */
const eventAckFailed = 3004

/** Maps one delivery, accepts it into the inbox, and only then accepts it at the broker. */
export async function ingestDelivery(
  delivery: Delivery,
  context: IngestContext,
): Promise<SettlementTerminal> {
  const { options, contracts, discarder } = context
  let item: WriteItem
  try {
    item = await mapDelivery(delivery, contracts, options)
  } catch (error) {
    return byPolicy(delivery, error, context)
  }
  const stored = await store(delivery, item, context)
  if (stored !== 'stored') return stored
  discarder.accepted()
  return acknowledge(delivery, context)
}

/** Tries until the store has it, the policy decides, the hold limit is over, or a stop is asked for. */
async function store(
  delivery: Delivery,
  item: WriteItem,
  context: IngestContext,
): Promise<SettlementTerminal | 'stored'> {
  const { options, acceptor, outage, stopping, budget } = context
  const heldUntil = options.clock.monotonic() + options.holdLimitMs
  for (let attempt = 1; ; attempt++) {
    try {
      await acceptor.accept(item)
      outage.ended()
      return 'stored'
    } catch (error) {
      const failure = IngressAckPolicy.unwrapException(error)
      if (isLiteBusError(failure, 'STORE_UNAVAILABLE')) outage.began()
      else if (!isLiteBusError(failure, 'DUPLICATE_IN_FLIGHT')) return byPolicy(delivery, error, context)
    }
    if (stopping.aborted) return returnDelivery(delivery, budget)
    if (options.clock.monotonic() >= heldUntil) {
      outage.giveUpSubscription()
      return returnDelivery(delivery, budget)
    }
    await outage.wait(attempt)
  }
}

/** Requeue or discard; see the ack policy. */
async function byPolicy(
  delivery: Delivery,
  error: unknown,
  { options, discarder, budget }: IngestContext,
): Promise<SettlementTerminal> {
  if (!IngressAckPolicy.shouldRequeue(error, options.requeueOnFailure))
    return discarder.discard(delivery, error)
  const delayMs = backoffDelayMs(delivery.deliveryCount ?? 1, options.requeueBackoff, options.random)
  return returnDelivery(delivery, budget, { delayMs })
}

/** The row stands; if the broker cannot be told, redelivery meets it. */
async function acknowledge(
  delivery: Delivery,
  { options, budget }: IngestContext,
): Promise<SettlementTerminal> {
  const { terminal, result } = await acceptDelivery(delivery, budget)
  if (result !== 'settled') {
    options.telemetry.count({ scope: 'LiteBus.Inbox', name: 'ingress.ack_failed_after_accept' }, 1)
    options.logger.error('broker accept failed after the inbox had accepted', {
      eventId: eventAckFailed,
      source: options.source,
      result,
      terminal,
    })
  }
  return terminal
}
