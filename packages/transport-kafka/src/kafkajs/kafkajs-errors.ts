import type { BrokerRefusal } from '../driver.ts'

/** Errors after which it is certain that the broker stored nothing of a request, and would refuse it again. */
const refusals: ReadonlySet<string> = new Set([
  'CLUSTER_AUTHORIZATION_FAILED',
  'INVALID_RECORD',
  'INVALID_REQUIRED_ACKS',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'MESSAGE_TOO_LARGE',
  'POLICY_VIOLATION',
  'RECORD_LIST_TOO_LARGE',
  'TOPIC_AUTHORIZATION_FAILED',
  'UNSUPPORTED_COMPRESSION_TYPE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
])

/** Name of the protocol error in what the client threw; undefined where it is no answer of a broker. */
export function protocolErrorOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause !== null && typeof cause === 'object' && depth < 5; depth += 1) {
    const { type } = cause as { readonly type?: unknown }
    if (typeof type === 'string' && /^[A-Z_]+$/u.test(type)) return type
    cause = (cause as { readonly cause?: unknown }).cause
  }
  return undefined
}

/** The refusal in what a write rejected with. */
export function refusalOf(error: unknown): BrokerRefusal | undefined {
  const protocolError = protocolErrorOf(error)
  return protocolError !== undefined && refusals.has(protocolError) ? { protocolError } : undefined
}
