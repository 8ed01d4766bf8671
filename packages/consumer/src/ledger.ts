/**
 * How a delivery ended, also the outcomes of `litebus.consumer.settlements`.
 *
 * - `acked`: handled and accepted at the broker.
 * - `acked_retry`, `acked_dead_letter`: a copy was confirmed, then the original accepted.
 * - `returned`: given back for redelivery.
 * - `discarded`: taken off its source without a copy, by policy or by a native dead letter.
 * - `pending_redelivery`: the authority was revoked before anything was sent; the broker delivers it again.
 * - `unresolved`: something was or may have been sent, and nobody here knows what the broker made of it.
 */
export type SettlementTerminal =
  | 'acked'
  | 'acked_retry'
  | 'acked_dead_letter'
  | 'returned'
  | 'discarded'
  | 'pending_redelivery'
  | 'unresolved'

/** Terminals after which the broker delivers the message again. */
export const wentBack: ReadonlySet<SettlementTerminal> = new Set([
  'returned',
  'pending_redelivery',
  'unresolved',
])

/** Deliveries by terminal. `deliveries` is always the sum of the terminals and `inFlight`. */
export type SettlementCounts = Readonly<Record<SettlementTerminal, number>> & {
  /** Deliveries taken. */
  readonly deliveries: number
  /** Deliveries without a terminal yet. */
  readonly inFlight: number
}

/** Counts deliveries; it always adds up. */
export interface SettlementLedger {
  /** A delivery came; the answer records its terminal, once. */
  open(): (terminal: SettlementTerminal) => void
  /** Counts so far. */
  readonly counts: () => SettlementCounts
}

/** Starts at zero. */
export function createLedger(
  onTerminal: (terminal: SettlementTerminal) => void = () => undefined,
): SettlementLedger {
  const terminals: Record<SettlementTerminal, number> = {
    acked: 0,
    acked_retry: 0,
    acked_dead_letter: 0,
    returned: 0,
    discarded: 0,
    pending_redelivery: 0,
    unresolved: 0,
  }
  let deliveries = 0
  let inFlight = 0
  return {
    open() {
      deliveries += 1
      inFlight += 1
      let closed = false
      return (terminal) => {
        if (closed) return
        closed = true
        inFlight -= 1
        terminals[terminal] += 1
        onTerminal(terminal)
      }
    },
    counts: () => ({ ...terminals, deliveries, inFlight }),
  }
}
