import { bindSuite, type BoundSuite, type SuiteBinding } from '../frame/suite.ts'
import type { StoreCapabilities } from '../store/store-fixture.ts'
import { claimCases } from './cases/claims.ts'
import { dedupCompletionCases } from './cases/completions.ts'
import { dedupRetentionCases } from './cases/retention.ts'
import { dedupTransactionCases } from './cases/transactions.ts'
import type { DedupFixture } from './dedup-fixture.ts'

/** How a dedup store joins its suite. */
export type DedupBinding = SuiteBinding<DedupFixture, StoreCapabilities>

/** Binds the suite of dedup stores: what deduplication without an inbox relies on, case by case. */
export function dedupConformance(binding: DedupBinding): BoundSuite {
  const cases = [...claimCases, ...dedupCompletionCases, ...dedupTransactionCases, ...dedupRetentionCases]
  return bindSuite('dedup', cases, binding)
}
