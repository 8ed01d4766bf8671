import type { LiteBusErrorCode } from '../errors/error-code.ts'
import { isLiteBusError } from '../errors/litebus-error.ts'
import { unwrapException } from './unwrap-exception.ts'

/** Errors that no redelivery can cure: the delivery is discarded. */
const terminalCodes: readonly LiteBusErrorCode[] = [
  'CONTRACT_NOT_REGISTERED',
  'INBOX_DISPATCH_FAILED',
  'INBOX_INGRESS_REFUSED',
  'INBOX_STORAGE_REFUSED',
  'IDEMPOTENCY_CONFLICT',
  'INVALID_OPERATION',
  'ARGUMENT_INVALID',
  'OPTIONS_INVALID',
  'FORMAT_INVALID',
  'PAYLOAD_INVALID',
]

/**
 * Decides what happens to a delivery whose acceptance failed: `true` returns it to the queue, `false` discards it.
 * Total: it answers for every value that can be thrown, `undefined` included, and never throws itself.
 *
 * Outages ({@link StoreUnavailableError}) and duplicates in flight are neither: the ingress handles them before it
 * asks. Asked anyway, the answer is to requeue.
 *
 * Source of the rule: the LiteBus page on requeue and discard, steps 1 to 3.
 */
function shouldRequeue(error: unknown, requeueOnFailure: boolean): boolean {
  if (!requeueOnFailure) return false
  const failure = unwrapException(error)
  return !isLiteBusError(failure, ...terminalCodes) && !isSyntaxError(failure)
}

/** At run time a native `SyntaxError` comes from parsing. By name as well, for errors of another realm. */
function isSyntaxError(error: unknown): boolean {
  try {
    if (error instanceof SyntaxError) return true
    return (
      Object.prototype.toString.call(error) === '[object Error]' && (error as Error).name === 'SyntaxError'
    )
  } catch {
    return false
  }
}

/** The shared decision point of every ingress: requeue or discard. */
export const IngressAckPolicy: {
  /** Requeue (`true`) or discard (`false`). */
  readonly shouldRequeue: (error: unknown, requeueOnFailure: boolean) => boolean
  /** Peels wrappers; see {@link unwrapException}. */
  readonly unwrapException: (error: unknown) => unknown
} = Object.freeze({ shouldRequeue, unwrapException })
