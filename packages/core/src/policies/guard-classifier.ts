import { errorType } from '../errors/error-type.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { ignoreRejection } from '../time/ignore-rejection.ts'
import type { FailureClassifier } from './classify-failure.ts'
import { isFailure, type Failure } from './failure.ts'

const repeatMs = 10_000

/**
 * A classifier of the application that cannot harm: one that throws, or answers anything but a failure with a known
 * category, leaves the failure to the default classifier. That is logged, at most every 10 s.
 */
export function guardClassifier(
  classifier: FailureClassifier | undefined,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
): FailureClassifier | undefined {
  if (classifier === undefined) return undefined
  let loggedAt = Number.NEGATIVE_INFINITY
  const fault = (error: string): void => {
    const now = clock.monotonic()
    if (now - loggedAt < repeatMs) return
    loggedAt = now
    logger.error('the failure classifier failed, the default one decides', { error })
  }
  return (error): Failure | undefined => {
    let named: unknown
    try {
      named = classifier(error)
    } catch (thrown) {
      fault(errorType(thrown))
      return undefined
    }
    if (named === undefined || isFailure(named)) return named
    ignoreRejection(named)
    fault('UNKNOWN_CATEGORY')
    return undefined
  }
}
