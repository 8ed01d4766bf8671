export {
  createContractRegistry,
  encodeMessage,
  validate,
  type DecodedMessage,
  type ContractRegistry,
} from './contracts/contract-registry.ts'
export { jsonSerializer } from './contracts/json-serializer.ts'
export { defineContract } from './contracts/define-contract.ts'
export { type Upcaster, type PayloadSerializer, type MessageContract } from './contracts/message-contract.ts'
export {
  createDeliveryLedger,
  type DeliveryFacts,
  type SendResult,
  type SettlementDriver,
  type DeliveryLedgerOptions,
  type DeliveryLedger,
} from './deliveries/delivery-ledger.ts'
export {
  createSettlementAuthority,
  type SettlementAuthorityState,
  type SettlementAuthority,
} from './deliveries/settlement-authority.ts'
export { type LiteBusErrorCode } from './errors/error-code.ts'
export {
  ArgumentError,
  OptionsError,
  InvalidOperationError,
  FormatError,
  PayloadError,
  MessageContractNotRegisteredError,
  InboxDispatchError,
  InboxIngressError,
  InboxStorageError,
  StoreUnavailableError,
  TransportUnavailableError,
  TransportClosedError,
  TopologyMismatchError,
  InvocationError,
} from './errors/errors.ts'
export { errorType } from './errors/error-type.ts'
export { type DeliveryFault, type DeliveryPart } from './errors/delivery-fault.ts'
export { LiteBusError, isLiteBusError, type LiteBusErrorOptions } from './errors/litebus-error.ts'
export {
  IdempotencyConflictError,
  DuplicateInFlightError,
  type ConflictingSlot,
} from './errors/slot-errors.ts'
export { type HandlerIdentity, type HandlerContext } from './handlers/handler-context.ts'
export {
  createHandlerRegistry,
  type RegisteredHandler,
  type HandlerRegistry,
} from './handlers/handler-registry.ts'
export {
  retry,
  reject,
  failureOfResult,
  type HandlerResult,
  type RetryResult,
  type RejectResult,
} from './handlers/handler-result.ts'
export { defineHandler, defineTransactionalHandler } from './handlers/define-handler.ts'
export {
  type HandlerReturn,
  type MessageHandler,
  type AnyMessageHandler,
  type TransactionalContext,
} from './handlers/message-handler.ts'
export {
  liteBusNamespace,
  idOfSend,
  idOfDelivery,
  idsOfDeliveries,
  idOfHop,
  type SendIdentity,
} from './ids/deterministic-ids.ts'
export { isUuid, normalizeUuid, uuidV7, uuidV5 } from './ids/uuid.ts'
export { statusOf, type Axis, type MessageState, type MessageStatus } from './messages/message-state.ts'
export {
  type Visibility,
  type IdempotencyMode,
  type Idempotency,
  type MessageMetadata,
  type NewMessage,
  type StoredMessage,
} from './messages/new-message.ts'
export { type TraceContext } from './messages/trace-context.ts'
export {
  optionFaults,
  portRules,
  readOptions,
  type OptionRule,
  type OptionShape,
  type PortRule,
  type ReadOptions,
} from './options/read-options.ts'
export { definedOptions } from './options/defined-options.ts'
export type { Mutable } from './options/mutable.ts'
export { checkOptions, type OptionChecks } from './options/option-checks.ts'
export { backoffDefaults, backoffDelayMs, backoffFaults, type BackoffOptions } from './policies/backoff.ts'
export { classifyFailure, type FailureClassifier } from './policies/classify-failure.ts'
export {
  failureCategories,
  nonRetryableCategories,
  failureCode,
  isFailure,
  executionBudgetExceeded,
  type FailureCategory,
  type Failure,
} from './policies/failure.ts'
export { guardClassifier } from './policies/guard-classifier.ts'
export { IngressAckPolicy } from './policies/ingress-ack-policy.ts'
export {
  isRetryable,
  decideRetry,
  type RetryAction,
  type RetryDecision,
  type RetryInput,
} from './policies/retry-decision.ts'
export {
  resolveRetryProfile,
  retryProfileFaults,
  type RetryMode,
  type RetryProfile,
  type ResolvedRetryProfile,
} from './policies/retry-profile.ts'
export { unwrapException } from './policies/unwrap-exception.ts'
export { type Timer, type Clock } from './ports/clock.ts'
export { type DesiredProcessorState, type ControlStore } from './ports/control-store.ts'
export { type DedupClaim, type DedupHold, type DedupStore } from './ports/dedup-store.ts'
export { type SettlementResult, type ReturnOptions, type Delivery } from './ports/delivery.ts'
export {
  type Lease,
  type FailureRecord,
  type LeasedEnvelope,
  type LeaseRequest,
  type LeaseBatch,
  type RenewResult,
  type SettleOutcome,
  type SettleResult,
} from './ports/lease.ts'
export { isolateLogger, isolateTelemetry } from './ports/isolate.ts'
export { silentLogger, type LogFields, type Logger } from './ports/logger.ts'
export {
  type MessageFilter,
  type MessageQuery,
  type MessageRecord,
  type MessagePage,
  type RequeueResult,
  type StatusCounts,
  type RetentionRequest,
  type RetentionResult,
  type SchemaInfo,
} from './ports/message-query.ts'
export {
  type StoredReceipt,
  type AppendResult,
  type AppendOptions,
  type MessageAppender,
  type SettleOptions,
  type MessageLeaser,
  type MessageAdministration,
  type WorkSignal,
  type MessageStore,
} from './ports/message-store.ts'
export {
  noTelemetry,
  type TelemetryAttributes,
  type TelemetryScope,
  type InstrumentId,
  type Span,
  type SpanOptions,
  type Telemetry,
} from './ports/telemetry.ts'
export {
  type HeaderValue,
  type Headers,
  type OutboundMessage,
  type InboundMessage,
} from './ports/transport-message.ts'
export {
  type TransportCapabilities,
  type PublishOutcome,
  type TransportPublisher,
  type SubscribeOptions,
  type SubscriptionState,
  type StopReport,
  type Subscription,
  type TransportConsumer,
  type TransportBrowser,
  type Transport,
} from './ports/transport.ts'
export {
  type WriteOptions,
  type TransactionalWriteOptions,
  type WriteItem,
  type BatchOptions,
  type InboxReceipt,
  type OutboxReceipt,
  type Inbox,
  type Outbox,
} from './ports/writers.ts'
export { publishFailures } from './publishing/publish-failures.ts'
export { publishInKeyOrder } from './publishing/publish-in-key-order.ts'
export { leaseRequestDefaults, assertLeaseRequest, claimantOf } from './stores/lease-request.ts'
export { decideSlot, type KnownMessage, type SlotDecision } from './stores/slot-decision.ts'
export { assertDedupClaim, resolveDedupRetention } from './stores/dedup-arguments.ts'
export { storeLimits, assertStorable, isStorableText } from './stores/storable.ts'
export { leaseExpired, keyParked, failureHistoryLength } from './stores/store-codes.ts'
export {
  SuspectGate,
  type GateDecision,
  type SuspectGateOptions,
  type GateGrant,
} from './stores/suspect-gate.ts'
export { createDeadline, type Deadline } from './time/deadline.ts'
export { createCommonLimit, type CommonLimit } from './time/common-limit.ts'
export { inTime, within, withinOr, type Patience, type TimeLimit } from './time/in-time.ts'
export { sleep } from './time/sleep.ts'
export { untilAborted } from './time/until-aborted.ts'
export { systemClock } from './time/system-clock.ts'
export { maxTimerMs, clampTimerMs } from './time/timer-limits.ts'
export { headerBounds, checkHeaderBounds, type HeaderBounds } from './wire/header-bounds.ts'
export {
  wireHeaders,
  hopHeaders,
  legacyHeaders,
  isReservedHeader,
  isBrokerHeader,
  isListedHeader,
} from './wire/header-names.ts'
export {
  findHeader,
  readText,
  readLenientText,
  readPositiveInteger,
  readNonNegativeInteger,
  textOf,
} from './wire/header-readers.ts'
export { readHeaders, type WireMetadata, type ReadHeadersOptions } from './wire/read-headers.ts'
export { writeTrace, readTrace } from './wire/trace-header.ts'
export { readVisibility, writeVisibility } from './wire/visibility-header.ts'
export { writeHeaders } from './wire/write-headers.ts'
export {
  createMessageWriter,
  receiptOf,
  type WriterOptions,
  type MessageWriter,
} from './writers/message-writer.ts'
export { prepareMessage, type WriterSettings } from './writers/prepare-message.ts'
