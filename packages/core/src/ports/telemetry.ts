/** Attributes of a measurement or span. */
export type TelemetryAttributes = Readonly<Record<string, string | number | boolean>>

/** The three meters of LiteBus; tracers have the same names. */
export type TelemetryScope = 'LiteBus.Inbox' | 'LiteBus.Outbox' | 'LiteBus.Transport'

/** Which instrument, in which scope. */
export interface InstrumentId {
  /** Meter that owns the instrument. */
  readonly scope: TelemetryScope
  /** Name of the instrument; part of the public API. */
  readonly name: string
  /** Unit in UCUM, for example `ms`. */
  readonly unit?: string
}

/** An operation in progress. */
export interface Span {
  /** Adds attributes. */
  setAttributes(attributes: TelemetryAttributes): void
  /** Marks the span failed with an `error.type`; error text is never recorded. */
  fail(errorType: string): void
  /** Ends the span. */
  end(): void
}

/** What a span starts with. */
export interface SpanOptions {
  /** Tracer that owns the span. */
  readonly scope: TelemetryScope
  /** `producer` for sends, `consumer` for processing. */
  readonly kind: 'producer' | 'consumer'
  /** Attributes known at the start. */
  readonly attributes?: TelemetryAttributes
  /** Trace context stored with the message. */
  readonly traceparent?: string
}

/** Where measurements go. Off unless an adapter is passed. */
export interface Telemetry {
  /** Adds to a counter. */
  count(instrument: InstrumentId, value: number, attributes?: TelemetryAttributes): void
  /** Records one value of a histogram. */
  record(instrument: InstrumentId, value: number, attributes?: TelemetryAttributes): void
  /** Registers a gauge that is read when the backend collects; returns a function that unregisters it. */
  observe(
    instrument: InstrumentId,
    read: () => number | undefined,
    attributes?: TelemetryAttributes,
  ): () => void
  /** Starts a span. */
  startSpan(name: string, options: SpanOptions): Span
}

const idleSpan: Span = Object.freeze({
  setAttributes: () => undefined,
  fail: () => undefined,
  end: () => undefined,
})

/** Telemetry that records nothing: the default. */
export const noTelemetry: Telemetry = Object.freeze({
  count: () => undefined,
  record: () => undefined,
  observe: () => () => undefined,
  startSpan: () => idleSpan,
})
