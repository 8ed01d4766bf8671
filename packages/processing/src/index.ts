export {
  type DispatchContext,
  type Dispatcher,
  type DispatchHooks,
  type DispatchOutcome,
  type HookFailurePolicy,
} from './dispatcher.ts'
export { type PassSummary } from './pass.ts'
export { createProcessor, type Processor, type ProcessorStopReport } from './processor.ts'
export { type ProcessorState } from './processor-state.ts'
export {
  processorDefaults,
  processorStoreRule,
  processorTuningShape,
  type ProcessorOptions,
  type ProcessorTuning,
} from './processor-options.ts'
