import { isLiteBusError } from '../errors/litebus-error.ts'

/**
 * Peels what only wraps another error, repeatedly: invocation wrappers (code `INVOCATION_FAILED`) and aggregates
 * with exactly one inner error. No other `cause` is peeled. Total, and safe against cycles: an error that leads
 * back to itself is returned as it is.
 *
 * Source of the rule: the LiteBus page on requeue and discard, step 2.
 */
export function unwrapException(error: unknown): unknown {
  const seen = new Set<unknown>()
  let current = error
  while (!seen.has(current)) {
    seen.add(current)
    const inner = innerOf(current)
    if (inner === undefined) return current
    current = inner.error
  }
  return error
}

function innerOf(error: unknown): { readonly error: unknown } | undefined {
  try {
    if (isLiteBusError(error, 'INVOCATION_FAILED')) return { error: error.cause }
    if (!isAggregate(error) || error.errors.length !== 1) return undefined
    return { error: error.errors[0] }
  } catch {
    return undefined
  }
}

/** By name as well as by class: an aggregate may come from another realm. */
function isAggregate(error: unknown): error is { readonly errors: readonly unknown[] } {
  if (typeof error !== 'object' || error === null) return false
  if (!(error instanceof AggregateError) && (error as Error).name !== 'AggregateError') return false
  return Array.isArray((error as AggregateError).errors)
}
