import type { HandlerRegistry, ResolvedRetryProfile } from '@litebus/core'
import type { ResolvedConsumerOptions } from './consumer-options.ts'
import type { Deduplication } from './deduplication.ts'
import type { DependencyOutage } from './dependency-outage.ts'
import type { Handoff } from './handoff.ts'
import type { SettlementBudget } from './settlement-budget.ts'
import type { TimeoutBudget } from './timeout-budget.ts'

/** What consuming one delivery works with. */
export interface ConsumeContext {
  /** Options of the consumer. */
  readonly options: ResolvedConsumerOptions
  /** How failures are met. */
  readonly retry: ResolvedRetryProfile
  /** Handlers by contract. */
  readonly handlers: HandlerRegistry<unknown>
  /** Keeps handlers from running twice, where a store is given. */
  readonly dedup: Deduplication | undefined
  /** How many may be parked for want of an answer; undefined: any number. */
  readonly timeouts: TimeoutBudget | undefined
  /** Holds deliveries while none may. */
  readonly outage: DependencyOutage | undefined
  /** Publishes copies. */
  readonly handoff: Handoff
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Aborts when the grace of a stop is over. */
  readonly forcing: AbortSignal
  /** Settlement budget. */
  readonly budget: SettlementBudget
  /** When the delivery came, by the monotonic clock. */
  readonly takenAtMs: number
}
