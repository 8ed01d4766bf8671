/**
 * Why a message failed, in twelve words shared by handlers, transports and dead letters.
 * Not retryable by default: `DESERIALIZATION`, `VALIDATION`, `AUTHENTICATION`, `AUTHORIZATION`, `CONFIGURATION`,
 * `REJECTED`.
 */
export type FailureCategory =
  | 'DESERIALIZATION'
  | 'VALIDATION'
  | 'AUTHENTICATION'
  | 'AUTHORIZATION'
  | 'CONFIGURATION'
  | 'REJECTED'
  | 'TIMEOUT'
  | 'DEPENDENCY'
  | 'THROTTLED'
  | 'CONFLICT'
  | 'CANCELLED'
  | 'UNKNOWN'

/** A failure without any text that could carry a secret: it is stored and travels in dead-letter headers. */
export interface Failure {
  /** The kind of failure. */
  readonly category: FailureCategory
  /** A short stable code, `[A-Z0-9_.-]`, at most 64 characters; see {@link failureCode}. */
  readonly code: string
}

/** All categories, in the order of the documentation. */
export const failureCategories: readonly FailureCategory[] = Object.freeze([
  'DESERIALIZATION',
  'VALIDATION',
  'AUTHENTICATION',
  'AUTHORIZATION',
  'CONFIGURATION',
  'REJECTED',
  'TIMEOUT',
  'DEPENDENCY',
  'THROTTLED',
  'CONFLICT',
  'CANCELLED',
  'UNKNOWN',
])

/** Categories that end in parking at the first failure unless a profile lists them as retryable. */
export const nonRetryableCategories: ReadonlySet<FailureCategory> = new Set([
  'DESERIALIZATION',
  'VALIDATION',
  'AUTHENTICATION',
  'AUTHORIZATION',
  'CONFIGURATION',
  'REJECTED',
])

/** Tells whether a value that untyped code returned is a failure: its category is known, its code is text. */
export function isFailure(value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null) return false
  const { category, code } = value as Partial<Failure>
  return failureCategories.includes(category as FailureCategory) && typeof code === 'string'
}

/** A handler that did not end within its execution budget. */
export const executionBudgetExceeded: Failure = Object.freeze({
  category: 'TIMEOUT',
  code: 'EXECUTION_BUDGET_EXCEEDED',
})

const codePattern = /^[A-Z0-9_.-]{1,64}$/

/**
 * Turns any text into a failure code that is safe to store and to send: upper case, 64 characters at most,
 * everything else replaced by `_`; an empty one becomes `UNKNOWN`.
 */
export function failureCode(text: string): string {
  if (codePattern.test(text)) return text
  const cleaned = text
    .slice(0, 64)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_.-]/g, '_')
  return cleaned === '' ? 'UNKNOWN' : cleaned
}
