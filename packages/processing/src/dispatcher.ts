import type { Failure, LeasedEnvelope } from '@litebus/core'

/** What a dispatcher knows besides the envelope. */
export interface DispatchContext {
  /** Aborts when the lease is lost, the execution budget is used up, or the grace of a stop is over. */
  readonly signal: AbortSignal
  /**
   * Aborts when nobody waits for the dispatch any longer: it did not end in time after `signal` had aborted. Whatever it
   * holds should be let go of; what it answers is ignored.
   */
  readonly givenUp: AbortSignal
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
}

/**
 * What became of one dispatch.
 *
 * - `succeeded`: complete the message.
 * - `failed`: spends the attempt; retried after `retryAfterMs` or the backoff while attempts are left.
 * - `rejected`: parked at once.
 * - `unavailable`: not the fault of the message: the attempt is given back and the message is due after `delayMs`.
 * - `settled`: the dispatcher completed the message itself, in a transaction of the store.
 * - `leaseLost`: the dispatcher found that the lease is lost; nothing was written.
 * - `persistFailed`: the dispatch was done but its completion failed or is unknown; the lease runs out.
 */
export type DispatchOutcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryAfterMs?: number }
  | { readonly kind: 'rejected'; readonly failure: Failure }
  | { readonly kind: 'unavailable'; readonly delayMs: number }
  | { readonly kind: 'settled' }
  | { readonly kind: 'leaseLost' }
  | { readonly kind: 'persistFailed' }

/** Does the work of one message. A throw is a failure that the classifier names. */
export interface Dispatcher {
  /** Dispatches one message. Envelopes of one ordering key come one after another, others concurrently. */
  dispatch(envelope: LeasedEnvelope, context: DispatchContext): Promise<DispatchOutcome> | DispatchOutcome
  /** Called once when the processor has stopped. */
  close?(): void
}

/** Calls around the dispatch of one envelope. */
export interface DispatchHooks {
  /** Before the dispatch; a throw fails the attempt. */
  readonly beforeDispatch?: (envelope: LeasedEnvelope) => Promise<void> | void
  /** After a dispatch that succeeded and before its settlement; a throw is met by the hook failure policy. */
  readonly afterDispatch?: (envelope: LeasedEnvelope) => Promise<void> | void
  /** When an envelope will not be completed by this dispatch: it failed, was released, or its lease is lost. */
  readonly abandon?: (envelope: LeasedEnvelope) => Promise<void> | void
}

/** What a failing `afterDispatch` does to a message whose dispatch succeeded. */
export type HookFailurePolicy = 'deadLetter' | 'completeDespiteHookFailure'
