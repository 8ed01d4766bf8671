import {
  acceptDeliveries,
  type SettlementBudget,
  type SettlementTerminal,
  type StoreOutage,
} from '@litebus/consumer'
import type { Discarder } from './discard.ts'
import type { Ingesting } from './ingest-delivery.ts'
import type { ResolvedIngressOptions } from './ingress-options.ts'

/** What telling the broker works with. */
export interface AcknowledgeContext {
  /** Options of the ingress. */
  readonly options: Pick<ResolvedIngressOptions, 'telemetry' | 'logger' | 'source'>
  /** Told that something was accepted. */
  readonly discarder: Pick<Discarder, 'accepted'>
  /** Told that the store answers. */
  readonly outage: Pick<StoreOutage, 'ended'>
  /** Settlement budget. */
  readonly budget: SettlementBudget
}

/** Log event: the broker was not told that an accepted message is done. */
const eventAckFailed = 3004

/** Accepts stored deliveries at the broker. Their rows stand; what the broker cannot be told comes again and meets them. */
export function acknowledge(
  stored: readonly Pick<Ingesting, 'delivery' | 'ended'>[],
  { options, discarder, outage, budget }: AcknowledgeContext,
): void {
  outage.ended()
  discarder.accepted()
  const tellFailure = (terminal: SettlementTerminal): SettlementTerminal => {
    options.telemetry.count({ scope: 'LiteBus.Inbox', name: 'ingress.ack_failed_after_accept' }, 1)
    options.logger.error('broker accept failed after the inbox had accepted', {
      eventId: eventAckFailed,
      source: options.source,
      terminal,
    })
    return terminal
  }
  acceptDeliveries(stored, budget, ({ ended }, terminal) => {
    ended(terminal === 'acked' ? terminal : Promise.resolve(terminal).then(tellFailure))
  })
}
