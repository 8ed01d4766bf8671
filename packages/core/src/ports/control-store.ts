/** What operators want a named processor to do. */
export type DesiredProcessorState = 'running' | 'paused' | 'draining'

/** Desired state of processors, shared by all instances. */
export interface ControlStore {
  /** The desired state of a processor; `running` when none was set. */
  desiredState(processor: string): Promise<DesiredProcessorState>
  /** Sets the desired state of a processor for all instances. */
  setDesiredState(processor: string, state: DesiredProcessorState): Promise<void>
}
