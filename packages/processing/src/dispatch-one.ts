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

/** Runs hooks and dispatcher for one row. Never rejects: whatever is thrown is an outcome. */
export async function dispatchOne(work: HeldWork, options: DispatchOptions): Promise<DispatchOutcome> {
  const { dispatcher, hooks, classifier } = options
  let outcome: DispatchOutcome
  try {
    if (hooks.beforeDispatch !== undefined) await hooks.beforeDispatch(work.envelope)
    outcome = soundOutcome(await dispatcher.dispatch(work.envelope, work.context))
  } catch (error) {
    outcome = { kind: 'failed', failure: classifyFailure(error, classifier) }
  }
  if (outcome.kind === 'succeeded' && hooks.afterDispatch !== undefined) {
    outcome = await afterSuccess(work, options)
  }
  // Given up: what it answers now is ignored, and it was abandoned then.
  if (work.stage !== 'running') return outcome
  if (work.overdue && outcome.kind === 'failed') outcome = overBudget
  else if (cancelledByStop(work, outcome)) outcome = { kind: 'unavailable', delayMs: 0 }
  if (outcome.kind !== 'succeeded' && outcome.kind !== 'settled') await abandon(work, options)
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
