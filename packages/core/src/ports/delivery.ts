import type { InboundMessage } from './transport-message.ts'

/**
 * What became of a settlement call.
 *
 * - `settled`: the broker has it, as far as the protocol can tell.
 * - `notSent`: refused on our side of a living channel; the authority is intact.
 * - `unknown`: it may have reached the broker; the authority is spent, redelivery decides.
 * - `revoked`: the authority was spent before, or its channel, session or assignment is gone; nothing was sent.
 */
export type SettlementResult = 'settled' | 'notSent' | 'unknown' | 'revoked'

/** How a delivery goes back. */
export interface ReturnOptions {
  /** Delay before it is delivered again; transports without a native one hold it that long first. */
  readonly delayMs?: number
  /** Attempts made so far, for transports that carry them across a return. */
  readonly attempt?: number
  /** First failure, for transports that carry it across a return. */
  readonly firstFailureAt?: Date
  /** Called once the return is on its way, before it is answered: from then on the message may come again. */
  readonly onSent?: () => void
}

/**
 * One delivery with its one-shot settlement authority: the first call that may have reached the broker takes it,
 * and no later call reaches the broker. None of the calls rejects.
 */
export interface Delivery {
  /** The message. */
  readonly message: InboundMessage
  /** Id under which the broker delivers it, stable over redeliveries, where there is one. */
  readonly deliveryId?: string
  /** True when the broker says that it was delivered before. It says nothing about earlier work. */
  readonly redelivered: boolean
  /** How often it was delivered, 1 at first, where the broker counts. */
  readonly deliveryCount?: number
  /** Partition that it is from, where the source has several: its order is that of the whole partition. */
  readonly partition?: string
  /** Attempts carried by the transport across returns. */
  readonly attempt?: number
  /** First failure carried by the transport across returns. */
  readonly firstFailureAt?: Date
  /** Takes the message off its source. */
  accept(): Promise<SettlementResult>
  /** Gives it back for redelivery. */
  returnToQueue(options?: ReturnOptions): Promise<SettlementResult>
  /** Takes it off its source without success; a native dead letter where the broker has one configured. */
  discard(options: { readonly reason: string }): Promise<SettlementResult>
  /** Extends the time for which it may be held, where the broker limits it. */
  extend?(holdMs: number): Promise<void>
}
