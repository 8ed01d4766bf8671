/** Names of the headers that LiteBus writes and reads. Public API. */
export const wireHeaders: {
  /** Envelope id, always written. */
  readonly messageId: 'litebus-message-id'
  /** Contract name, always written, required at ingress. */
  readonly contractName: 'litebus-contract-name'
  /** Contract version, always written, required at ingress. */
  readonly contractVersion: 'litebus-contract-version'
  /** Correlation id. */
  readonly correlationId: 'correlation-id'
  /** Causation id. */
  readonly causationId: 'causation-id'
  /** Tenant. */
  readonly tenantId: 'tenant-id'
  /** Idempotency key. */
  readonly idempotencyKey: 'litebus-idempotency-key'
  /** Ordering key. */
  readonly orderingKey: 'litebus-ordering-key'
  /** Time at which the message becomes due, ISO 8601. */
  readonly visibleAfter: 'litebus-visible-after'
  /** Delay after which it becomes due: decimal seconds or an ISO 8601 duration. Wins over the time. */
  readonly visibleAfterDelay: 'litebus-visible-after-delay'
  /** W3C traceparent, or JSON with tracestate. */
  readonly traceContext: 'litebus-trace-context'
  /** `base64` where the broker cannot carry bytes. */
  readonly contentEncoding: 'litebus-content-encoding'
  /** W3C trace context. */
  readonly traceparent: 'traceparent'
  /** W3C trace context. */
  readonly tracestate: 'tracestate'
  /** W3C baggage. */
  readonly baggage: 'baggage'
} = Object.freeze({
  messageId: 'litebus-message-id',
  contractName: 'litebus-contract-name',
  contractVersion: 'litebus-contract-version',
  correlationId: 'correlation-id',
  causationId: 'causation-id',
  tenantId: 'tenant-id',
  idempotencyKey: 'litebus-idempotency-key',
  orderingKey: 'litebus-ordering-key',
  visibleAfter: 'litebus-visible-after',
  visibleAfterDelay: 'litebus-visible-after-delay',
  traceContext: 'litebus-trace-context',
  contentEncoding: 'litebus-content-encoding',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  baggage: 'baggage',
})

/** Names of the headers of a retry or dead-letter copy; nothing else is added to one. Public API. */
export const hopHeaders: {
  /** Category of the failure. */
  readonly failureCategory: 'msg.failure-category'
  /** Code of the failure. */
  readonly failureCode: 'msg.failure-code'
  /** Where the message was consumed. */
  readonly originDestination: 'msg.origin-destination'
  /** Retries made by copies so far. */
  readonly retryAttempt: 'msg.retry-attempt'
  /** First failure, ISO 8601. */
  readonly firstFailureAt: 'msg.first-failure-at'
  /** Last failure, ISO 8601. */
  readonly lastFailureAt: 'msg.last-failure-at'
  /** Redrive that brought the message back. */
  readonly redriveId: 'msg.redrive-id'
} = Object.freeze({
  failureCategory: 'msg.failure-category',
  failureCode: 'msg.failure-code',
  originDestination: 'msg.origin-destination',
  retryAttempt: 'msg.retry-attempt',
  firstFailureAt: 'msg.first-failure-at',
  lastFailureAt: 'msg.last-failure-at',
  redriveId: 'msg.redrive-id',
})

/** Names that older publishers use; read as fallbacks, never written. */
export const legacyHeaders: {
  /** Correlation id. */
  readonly correlationId: 'CorrelationId'
} = Object.freeze({ correlationId: 'CorrelationId' })

const reserved: ReadonlySet<string> = new Set<string>([
  ...Object.values(wireHeaders),
  ...Object.values(hopHeaders),
  ...Object.values(legacyHeaders).map((name) => name.toLowerCase()),
])

/** Headers that a broker adds on its way; they say nothing to applications and do not count towards the bounds. */
const brokerHeader = /^x-(?:death|first-death-.*|last-death-.*|delivery-count|acquired-count)$/

/**
 * Tells whether a name belongs to LiteBus: one of the listed headers, or any name of the `litebus-` and `msg.`
 * families, which applications must not use. In any case.
 */
export function isReservedHeader(name: string): boolean {
  if (reserved.has(name)) return true
  const lower = name.toLowerCase()
  return reserved.has(lower) || lower.startsWith('litebus-') || lower.startsWith('msg.')
}

/** Tells whether a broker added the header on its way. */
export function isBrokerHeader(name: string): boolean {
  return /^x-/i.test(name) && brokerHeader.test(name.toLowerCase())
}

/** Tells whether the header is one of the listed ones, which do not count towards the bounds. */
export function isListedHeader(name: string): boolean {
  return reserved.has(name) || reserved.has(name.toLowerCase())
}
