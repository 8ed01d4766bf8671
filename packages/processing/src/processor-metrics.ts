import type { Axis, InstrumentId, Telemetry } from '@litebus/core'
import type { PassSummary } from './pass.ts'

/** Measurements of one processor under the names of its axis. */
export interface ProcessorMetrics {
  /** Counts a finished pass. */
  passed(summary: PassSummary): void
  /** Counts a fault of the loop. */
  readonly loopError: () => void
  /** Records the duration of one dispatch in milliseconds. */
  dispatched(durationMs: number): void
}

/** 0 running, 1 paused, 2 draining. */
export type ProcessorStateGauge = 0 | 1 | 2

/** Binds the instruments of an axis; `readState` feeds the state gauge until `dispose`. */
export function createProcessorMetrics(
  axis: Axis,
  telemetry: Telemetry,
  readState: () => ProcessorStateGauge | undefined,
): ProcessorMetrics & { readonly dispose: () => void } {
  const scope = axis === 'inbox' ? 'LiteBus.Inbox' : 'LiteBus.Outbox'
  const instrument = (name: string, unit?: string): InstrumentId => ({
    scope,
    name: `litebus.${axis}.processor.${name}`,
    ...(unit === undefined ? {} : { unit }),
  })
  const counters = {
    passes: instrument('passes'),
    succeeded: instrument(axis === 'inbox' ? 'succeeded' : 'published'),
    failed: instrument('failed'),
    deadLettered: instrument('dead_lettered'),
    loopErrors: instrument('loop_errors'),
    leasesAcquired: instrument('leases_acquired'),
    leaseLost: instrument('lease_lost'),
    persistSkipped: instrument('persist_skipped'),
    persistRejected: instrument('persist_rejected'),
    persistFailed: instrument('persist_failed'),
  }
  const duration = instrument('dispatch_duration', 'ms')
  const count = (id: InstrumentId, value: number): void => {
    if (value > 0) telemetry.count(id, value)
  }
  return {
    passed(summary) {
      count(counters.passes, 1)
      count(counters.leasesAcquired, summary.leased)
      count(counters.succeeded, summary.succeeded)
      count(counters.failed, summary.failed)
      count(counters.deadLettered, summary.deadLettered)
      count(counters.leaseLost, summary.leaseLost)
      // A terminal settle that is skipped because the lease is gone counts under both names.
      count(counters.persistSkipped, summary.leaseLost)
      count(counters.persistRejected, summary.leaseLost)
      count(counters.persistFailed, summary.persistFailed)
    },
    loopError() {
      count(counters.loopErrors, 1)
    },
    dispatched(durationMs) {
      telemetry.record(duration, durationMs)
    },
    dispose: telemetry.observe(instrument('state'), readState),
  }
}
