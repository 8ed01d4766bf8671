import type { Span, Telemetry } from '@litebus/core'

/** Telemetry that keeps what it is told. */
export interface KeptTelemetry {
  readonly telemetry: Telemetry
  /** Every name, attribute and error type, as text. */
  readonly text: () => string
}

/** Starts with nothing recorded. */
export function keepTelemetry(): KeptTelemetry {
  const kept: unknown[] = []
  const keep = (...told: readonly unknown[]): void => {
    kept.push(told)
  }
  const span: Span = { setAttributes: keep, fail: keep, end: () => undefined }
  return {
    telemetry: {
      count: keep,
      record: keep,
      observe(instrument, _read, attributes) {
        keep(instrument, attributes)
        return () => undefined
      },
      startSpan(name, options) {
        keep(name, options)
        return span
      },
    },
    text: () => JSON.stringify(kept),
  }
}
