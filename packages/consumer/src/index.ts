export { admit } from './admission.ts'
export { createConsumer, type Consumer } from './consumer.ts'
export { type ConsumerOptions } from './consumer-options.ts'
export {
  createDeliveryPipeline,
  type DeliveryPipeline,
  type DeliveryPipelineOptions,
  type DeliveryStopReport,
} from './delivery-pipeline.ts'
export { createHandoff, type Handoff, type HandoffOptions } from './handoff.ts'
export { hopCopy, type Hop } from './hop-copy.ts'
export { type Intake, type IntakeState, type PauseReason } from './intake.ts'
export { type SettlementCounts, type SettlementTerminal } from './ledger.ts'
export {
  acceptAfterHandoff,
  acceptDelivery,
  discardDelivery,
  returnDelivery,
  type AcceptResult,
  type SettlementBudget,
} from './settle-delivery.ts'
