/** W3C trace context of a message, as received. */
export interface TraceContext {
  /** `traceparent` header, 55 characters in version 00. */
  readonly traceparent: string
  /** `tracestate` header. */
  readonly tracestate?: string
  /** `baggage` header. */
  readonly baggage?: string
}
