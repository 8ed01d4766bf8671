import { classifyFailure, executionBudgetExceeded, type FailureClassifier } from '@litebus/core'
import { soundOutcome } from './sound-outcome.ts'
import type { Dispatcher, DispatchHooks, DispatchOutcome, HookFailurePolicy } from './dispatcher.ts'
import type { HeldWork } from './held-work.ts'
import type { TroubleLog } from './trouble-log.ts'

/** What one dispatch works with. */
export interface DispatchOptions {
  /** Does the work. */
  readonly dispatcher: Dispatcher
  /** Calls around it. */
  readonly hooks: DispatchHooks
  /** What a failing `afterDispatch` does. */
  readonly onHookFailure: HookFailurePolicy
  /** Names failures. */
  readonly classifier: FailureClassifier | undefined
  /** Where a failing hook is logged. */
  readonly trouble: TroubleLog
}

/**
 * Builds what runs hooks and dispatcher for one row and tells its outcome once, never before it returns: whatever is
 * thrown is an outcome. Without hooks it waits for one promise, since a relay has many thousands of dispatches a second.
 */
export function createDispatch(
  options: DispatchOptions,
  dispatched: (work: HeldWork, outcome: DispatchOutcome) => void,
): (work: HeldWork) => void {
  const { hooks, classifier } = options
  const end = (work: HeldWork, outcome: DispatchOutcome): void => {
    if (isComplete(outcome) && hooks.afterDispatch === undefined) {
      dispatched(work, outcome)
      return
    }
    void ended(work, outcome, options).then((final) => {
      dispatched(work, final)
    })
  }
  const failed = (error: unknown): DispatchOutcome => ({
    kind: 'failed',
    failure: classifyFailure(error, classifier),
  })
  /** An answer of untyped code can throw when it is looked at. */
  const outcomeOf = (answer: DispatchOutcome): DispatchOutcome => {
    try {
      return soundOutcome(answer)
    } catch (error) {
      return failed(error)
    }
  }
  return (work) => {
    answerOf(work, options).then(
      (answer) => {
        end(work, outcomeOf(answer))
      },
      (error: unknown) => {
        end(work, failed(error))
      },
    )
  }
}

function answerOf(work: HeldWork, options: DispatchOptions): Promise<DispatchOutcome> {
  const { dispatcher, hooks } = options
  if (hooks.beforeDispatch !== undefined) return answerAfterHook(work, options)
  try {
    return Promise.resolve(dispatcher.dispatch(work.envelope, work.context))
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what was thrown is classified as it is
    return Promise.reject(error)
  }
}

async function answerAfterHook(
  work: HeldWork,
  { dispatcher, hooks }: DispatchOptions,
): Promise<DispatchOutcome> {
  await hooks.beforeDispatch?.(work.envelope)
  return dispatcher.dispatch(work.envelope, work.context)
}

function isComplete({ kind }: DispatchOutcome): boolean {
  return kind === 'succeeded' || kind === 'settled'
}

async function ended(
  work: HeldWork,
  answered: DispatchOutcome,
  options: DispatchOptions,
): Promise<DispatchOutcome> {
  let outcome = answered.kind === 'succeeded' ? await afterSuccess(work, options) : answered
  // Given up: what it answers now is ignored, and it was abandoned then.
  if (work.stage !== 'running') return outcome
  if (work.overdue && outcome.kind === 'failed') outcome = overBudget
  else if (cancelledByStop(work, outcome)) outcome = { kind: 'unavailable', delayMs: 0 }
  if (!isComplete(outcome)) await abandon(work, options)
  return outcome
}

/** The outcome of a dispatch that was not done within its execution budget. */
export const overBudget: DispatchOutcome = { kind: 'failed', failure: executionBudgetExceeded }

async function afterSuccess(
  work: HeldWork,
  { hooks, onHookFailure, trouble }: DispatchOptions,
): Promise<DispatchOutcome> {
  try {
    await hooks.afterDispatch?.(work.envelope)
    return { kind: 'succeeded' }
  } catch (error) {
    trouble.failed('afterDispatch hook', error)
    if (onHookFailure === 'completeDespiteHookFailure') return { kind: 'succeeded' }
    return { kind: 'rejected', failure: { category: 'UNKNOWN', code: 'HOOK_FAILED' } }
  }
}

/** Work that ends early because of a stop has not failed: its attempt is given back. */
function cancelledByStop(work: HeldWork, outcome: DispatchOutcome): boolean {
  if (outcome.kind !== 'failed' || !work.context.stopping.aborted) return false
  return work.cancelled || outcome.failure.category === 'CANCELLED'
}

/** Tells the hook that this dispatch completes nothing. Never rejects. */
export async function abandon(
  work: HeldWork,
  { hooks, trouble }: Pick<DispatchOptions, 'hooks' | 'trouble'>,
): Promise<void> {
  try {
    await hooks.abandon?.(work.envelope)
  } catch (error) {
    trouble.failed('abandon hook', error)
  }
}
