import { failureCode, type Failure } from '../policies/failure.ts'
import { clampTimerMs } from '../time/timer-limits.ts'

/** What a handler may return. Nothing means success; a throw is a failure that the classifier names. */
export type HandlerResult = undefined | RetryResult | RejectResult

/** The handler asks for another attempt. */
export interface RetryResult {
  /** Tells results apart. */
  readonly kind: 'retry'
  /** Short stable code. */
  readonly code: string
  /** Delay that the handler asks for; absent: the backoff decides. */
  readonly afterMs?: number
}

/** The handler will never be able to handle the message. */
export interface RejectResult {
  /** Tells results apart. */
  readonly kind: 'reject'
  /** Short stable code. */
  readonly code: string
}

/** Asks for another attempt, after `afterMs` or after the backoff. */
export function retry(options: { readonly code: string; readonly afterMs?: number }): RetryResult {
  const code = failureCode(options.code)
  return options.afterMs === undefined
    ? { kind: 'retry', code }
    : { kind: 'retry', code, afterMs: options.afterMs }
}

/** Parks the message: category `REJECTED`, permanent. */
export function reject(options: { readonly code: string }): RejectResult {
  return { kind: 'reject', code: failureCode(options.code) }
}

/**
 * The failure that a result stands for, with the delay that the handler asked for; `undefined` for success. Total for
 * what untyped code returns: anything but nothing, `retry` and `reject` is a mistake of the handler, not a success.
 */
export function failureOfResult(
  result: HandlerResult,
): { readonly failure: Failure; readonly retryAfterMs?: number } | undefined {
  if (result === undefined) return undefined
  const { kind, code, afterMs } = ((result as unknown) ?? {}) as Partial<RetryResult>
  if (kind === 'retry') {
    const failure: Failure = { category: 'UNKNOWN', code: failureCode(String(code)) }
    return afterMs === undefined ? { failure } : { failure, retryAfterMs: clampTimerMs(afterMs) }
  }
  return (kind as string | undefined) === 'reject'
    ? { failure: { category: 'REJECTED', code: failureCode(String(code)) } }
    : { failure: { category: 'CONFIGURATION', code: 'HANDLER_RESULT_INVALID' } }
}
