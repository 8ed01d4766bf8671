import { ArgumentError } from '../errors/errors.ts'
import type { RetentionRequest } from '../ports/message-query.ts'
import { isStorableText, storeLimits } from './storable.ts'

const day = 86_400_000

type DedupRetention = Pick<RetentionRequest, 'dedupRetentionMs' | 'limit'>

/**
 * Refuses claims that every dedup store has to refuse.
 *
 * @throws ArgumentError that names what was expected.
 */
export function assertDedupClaim(key: string, leaseMs: number): void {
  if (typeof key !== 'string' || key === '' || key.length > storeLimits.keyLength) {
    throw new ArgumentError(`expected a key of 1 to ${String(storeLimits.keyLength)} characters`)
  }
  if (!isStorableText(key)) {
    throw new ArgumentError('expected a key without NUL characters and unpaired surrogates')
  }
  if (!Number.isFinite(leaseMs) || leaseMs <= 0 || leaseMs > storeLimits.delayMs) {
    throw new ArgumentError(`expected leaseMs above 0, at most 100 years, found ${String(leaseMs)}`)
  }
}

/**
 * Fills in the defaults of a retention run of a dedup store.
 *
 * @throws ArgumentError that names what was expected.
 */
export function resolveDedupRetention({
  dedupRetentionMs = 30 * day,
  limit = 10_000,
}: DedupRetention = {}): Required<DedupRetention> {
  for (const [name, value] of Object.entries({ dedupRetentionMs, limit })) {
    if (!Number.isFinite(value) || value < 0) {
      throw new ArgumentError(`expected ${name} to be at least 0, found ${String(value)}`)
    }
  }
  return { dedupRetentionMs, limit }
}
