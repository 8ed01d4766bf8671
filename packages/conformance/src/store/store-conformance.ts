import { bindSuite, type BoundSuite, type SuiteBinding } from '../frame/suite.ts'
import { administrationCases } from './cases/administration.ts'
import { appendCases } from './cases/append.ts'
import { callersTransactionCases } from './cases/callers-transaction.ts'
import { checkerCases } from './cases/checker.ts'
import { clockSkewCases } from './cases/clock-skew.ts'
import { completionCases } from './cases/completion.ts'
import { dedupCases } from './cases/dedup.ts'
import { fencingCases } from './cases/fencing.ts'
import { leaseCases } from './cases/lease.ts'
import { orderingCases } from './cases/ordering.ts'
import { renewalCases } from './cases/renewal.ts'
import { settleCases } from './cases/settle.ts'
import { suspectCases } from './cases/suspects.ts'
import { workSignalCases } from './cases/work-signal.ts'
import type { StoreCapabilities, StoreFixture, StoreSuiteOptions } from './store-fixture.ts'

/** How a store joins its suite. */
export type StoreBinding = SuiteBinding<StoreFixture, StoreCapabilities>

/** Binds the suite of message stores: what every store of LiteBus promises, case by case. */
export function storeConformance(binding: StoreBinding, options: StoreSuiteOptions = {}): BoundSuite {
  const cases = [
    ...appendCases,
    ...dedupCases,
    ...leaseCases(options),
    ...fencingCases,
    ...renewalCases,
    ...suspectCases,
    ...orderingCases,
    ...settleCases,
    ...completionCases,
    ...callersTransactionCases,
    ...administrationCases,
    ...workSignalCases,
    ...clockSkewCases,
    ...checkerCases(options),
  ]
  return bindSuite('store', cases, binding)
}
