export { admit, isOversize } from './admission.ts'
export { createConsumer, type Consumer } from './consumer.ts'
export { type ConsumerOptions } from './consumer-options.ts'
export { type ConsumerDedupOptions } from './dedup-options.ts'
export {
  createDeliveryPipeline,
  type DeliveryPipeline,
  type DeliveryPipelineOptions,
} from './delivery-pipeline.ts'
export { createHandoff, type Handoff, type HandoffOptions, type HandoffResult } from './handoff.ts'
export { hopCopy, type Hop } from './hop-copy.ts'
export { type Intake, type IntakeState, type PauseReason } from './intake.ts'
export { type SettlementCounts, type SettlementTerminal } from './ledger.ts'
export { lossyLimitFaults, type LossyLimit } from './lossy-limit.ts'
export { probeIntake } from './probe-intake.ts'
export { messageIdOf } from './message-id.ts'
export { acceptDeliveries, settleDelivery, type SettlementDecision } from './settle-delivery.ts'
export { createSettlementBudget, type SettlementBudget } from './settlement-budget.ts'
export { type SettlementEvent } from './settlement-path.ts'
export {
  createStoreOutage,
  type HoldStep,
  type StoreOutage,
  type StoreOutageOptions,
} from './store-outage.ts'
export { type TimeoutBudgetOptions } from './timeout-budget.ts'
export { type DeliveryStopReport, type StopOptions } from './stop-report.ts'
