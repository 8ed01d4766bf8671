import {
  backoffDelayMs,
  nonRetryableCategories,
  type BackoffOptions,
  type LeasedEnvelope,
  type SettleOutcome,
} from '@litebus/core'
import type { DispatchOutcome } from './dispatcher.ts'

/** What is written for an envelope: an outcome, the lease given back, or nothing. */
export type Settlement =
  | { readonly kind: 'settle'; readonly outcome: SettleOutcome }
  | { readonly kind: 'release'; readonly delayMs: number }
  | { readonly kind: 'none' }

/** What decides a settlement besides the outcome. */
export interface SettlementPolicy {
  /** Attempts before parking. */
  readonly maxAttempts: number
  /** Delay between attempts. */
  readonly backoff: BackoffOptions
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** Turns the outcome of a dispatch into what the store is told. */
export function settlementOf(
  envelope: LeasedEnvelope,
  outcome: DispatchOutcome,
  policy: SettlementPolicy,
): Settlement {
  const { lease, attempt } = envelope
  switch (outcome.kind) {
    case 'succeeded':
      return { kind: 'settle', outcome: { kind: 'succeeded', lease } }
    case 'rejected':
      return { kind: 'settle', outcome: { kind: 'deadLettered', lease, ...outcome.failure } }
    case 'failed': {
      const permanent = nonRetryableCategories.has(outcome.failure.category)
      if (permanent || attempt >= policy.maxAttempts) {
        return { kind: 'settle', outcome: { kind: 'deadLettered', lease, ...outcome.failure } }
      }
      const delayMs = outcome.retryAfterMs ?? backoffDelayMs(attempt, policy.backoff, policy.random)
      return { kind: 'settle', outcome: { kind: 'retry', lease, delayMs, ...outcome.failure } }
    }
    case 'unavailable':
      return { kind: 'release', delayMs: outcome.delayMs }
    case 'settled':
    case 'leaseLost':
    case 'persistFailed':
      return { kind: 'none' }
  }
}
