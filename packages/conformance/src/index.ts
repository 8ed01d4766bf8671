export { withScope, type Scope } from './frame/scope.ts'
export {
  bindSuite,
  registerSuite,
  type BoundCase,
  type BoundSuite,
  type ConformanceCase,
  type SuiteBinding,
  type TestRunner,
} from './frame/suite.ts'
export { manualClock, type ManualClock } from './time/manual-clock.ts'
export {
  type DestinationKind,
  type ForeignMessage,
  type TestDestination,
  type TransportFixture,
  type TransportProfile,
} from './transport/fixture.ts'
export { transportConformance, type TransportBinding } from './transport/suite.ts'
export { storeConformance, type StoreBinding } from './store/store-conformance.ts'
export {
  type CallersTransaction,
  type StoreCapabilities,
  type StoreFixture,
  type StorePair,
  type StoreSuiteOptions,
} from './store/store-fixture.ts'
export { dedupConformance, type DedupBinding } from './dedup/dedup-conformance.ts'
export { type DedupFixture } from './dedup/dedup-fixture.ts'
