import { createCommonLimit, type Clock, type SettlementResult } from '@litebus/core'

/** How long one settlement may take, and by which clock. One for all deliveries of a source. */
export interface SettlementBudget {
  /** Milliseconds. */
  readonly budgetMs: number
  /** Time. */
  readonly clock: Clock
  /** The answer to a settlement; one that takes longer than the budget may still reach the broker: unknown. */
  answerTo(settlement: Promise<SettlementResult>): Promise<SettlementResult>
}

/** A budget in milliseconds. */
export function createSettlementBudget(budgetMs: number, clock: Clock): SettlementBudget {
  const limit = createCommonLimit(clock, budgetMs, 'unknown' as const)
  return { budgetMs, clock, answerTo: (settlement) => limit.within(settlement) }
}
