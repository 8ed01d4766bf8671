import type { TransportCapabilities } from '../ports/transport.ts'
import { nonRetryableCategories, type FailureCategory } from './failure.ts'
import type { ResolvedRetryProfile } from './retry-profile.ts'

/** What a failure of one delivery leads to. */
export type RetryAction =
  'deadLetter' | 'reject' | 'pauseAndRetry' | 'publishToRetryDestination' | 'retryInline'

/** An action with the step of the decision order that led to it. */
export interface RetryDecision {
  /** What to do. */
  readonly action: RetryAction
  /** 1 to 8, as in the documentation of the decision order. */
  readonly step: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8
}

/** One failed attempt. */
export interface RetryInput {
  /** Category of the failure. */
  readonly category: FailureCategory
  /** 1-based attempt that failed. */
  readonly attempt: number
  /** Profile of the destination. */
  readonly profile: ResolvedRetryProfile
  /** What the transport can do at the destination. */
  readonly capabilities: Pick<TransportCapabilities, 'orderedStream' | 'delayedDelivery'>
}

/** Whether a category is retried at all under a profile. */
export function isRetryable(category: FailureCategory, profile: ResolvedRetryProfile): boolean {
  return !nonRetryableCategories.has(category) || profile.retryableCategories.has(category)
}

/**
 * Decides what happens after a failed attempt, evaluated from the top:
 *
 * 1. category not retryable: dead letter, or reject with `onPermanent: 'reject'`
 * 2. `attempt >= maxAttempts`: dead letter
 * 3. ordering `preserve`, destination ordered, transport `orderedStream`: pause and retry
 * 4. mode `pausePartition`: pause and retry
 * 5. mode `retryDestination` and `allowReorder`: publish to the retry destination
 * 6. mode `inline` or `blocking`: retry inline
 * 7. mode `brokerDelayed` and transport `delayedDelivery`: publish to the retry destination
 * 8. otherwise: dead letter
 *
 * Retryability comes before the attempt budget, since a payload does not change; strategies that keep order come
 * before those that publish again. Source of the rule: the page on retry, dead letters and redrive.
 */
export function decideRetry({ category, attempt, profile, capabilities }: RetryInput): RetryDecision {
  if (!isRetryable(category, profile)) return { action: profile.onPermanent, step: 1 }
  // Written so that an attempt that is no number parks instead of retrying for ever.
  if (!(attempt < profile.maxAttempts)) return { action: 'deadLetter', step: 2 }
  if (profile.ordering === 'preserve' && profile.destinationOrdered && capabilities.orderedStream) {
    return { action: 'pauseAndRetry', step: 3 }
  }
  if (profile.mode === 'pausePartition') return { action: 'pauseAndRetry', step: 4 }
  if (profile.mode === 'retryDestination' && profile.ordering === 'allowReorder') {
    return { action: 'publishToRetryDestination', step: 5 }
  }
  if (profile.mode === 'inline' || profile.mode === 'blocking') return { action: 'retryInline', step: 6 }
  if (profile.mode === 'brokerDelayed' && capabilities.delayedDelivery) {
    return { action: 'publishToRetryDestination', step: 7 }
  }
  return { action: 'deadLetter', step: 8 }
}
