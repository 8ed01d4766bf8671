import type { ProcessorStateGauge } from './processor-metrics.ts'

/** State of a processor. */
export type ProcessorState = 'idle' | 'running' | 'paused' | 'draining' | 'stopped'

/** What the state gauge shows. */
export const gaugeOf: Readonly<Record<ProcessorState, ProcessorStateGauge | undefined>> = {
  idle: undefined,
  running: 0,
  paused: 1,
  draining: 2,
  stopped: undefined,
}
