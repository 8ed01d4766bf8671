import type { SettlementCounts } from './ledger.ts'

/** How a stop may go about it. */
export interface StopOptions {
  /** One absolute deadline for everything, in milliseconds. @defaultValue 30 000 */
  readonly budgetMs?: number | undefined
  /** How long handlers may go on before their signal is aborted, in milliseconds. @defaultValue 80 % of the budget */
  readonly graceMs?: number | undefined
}

/** What a stop left behind; written once. */
export interface DeliveryStopReport {
  /**
   * `graceful`: everything ended by itself; `forced`: everything ended, something only after it was told to;
   * `incomplete`: something did not end within the budget, its authority was revoked and the broker delivers it again;
   * `failed`: the subscription could not be stopped.
   */
  readonly outcome: 'graceful' | 'forced' | 'incomplete' | 'failed'
  /** True for the outcome `graceful`. */
  readonly graceful: boolean
  /** Milliseconds that the stop took. */
  readonly elapsedMs: number
  /** All deliveries by terminal. */
  readonly settlements: SettlementCounts
  /** Deliveries that were not settled in time; the broker delivers them again. */
  readonly unsettled: number
  /**
   * Ids of messages, where they have one, whose handling had not ended, or of which the stop left nobody knowing what
   * became: a handoff that it cancelled while its copy may have been taken, a settlement without an answer.
   */
  readonly unresolved: readonly string[]
}
