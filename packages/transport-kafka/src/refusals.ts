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

/** Whether an error of the protocol says that nothing of a request is stored, and that trying again would not help. */
export function isRefusal(protocolError: string): boolean {
  return refusals.has(protocolError)
}
