import type { BrokerRefusal } from '../driver.ts'
import { isRefusal } from '../refusals.ts'

/** Errors of the protocol by number, as this client passes them on. */
const names: ReadonlyMap<number, string> = new Map([
  [3, 'UNKNOWN_TOPIC_OR_PARTITION'],
  [10, 'MESSAGE_TOO_LARGE'],
  [17, 'INVALID_TOPIC_EXCEPTION'],
  [18, 'RECORD_LIST_TOO_LARGE'],
  [21, 'INVALID_REQUIRED_ACKS'],
  [29, 'TOPIC_AUTHORIZATION_FAILED'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED'],
  [32, 'INVALID_TIMESTAMP'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT'],
  [44, 'POLICY_VIOLATION'],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE'],
  [87, 'INVALID_RECORD'],
])

/** The refusal in the error of a record. */
export function refusalOf(error: unknown): BrokerRefusal | undefined {
  const protocolError = names.get(codeOf(error) ?? 0)
  return protocolError !== undefined && isRefusal(protocolError) ? { protocolError } : undefined
}

/** True where a topic does not exist, or cannot. */
export function isMissingTopic(error: unknown): boolean {
  return [3, 17].includes(codeOf(error) ?? 0)
}

/** A broker answered: numbers below zero are errors of the client itself. */
export function isAnswer(error: unknown): boolean {
  return (codeOf(error) ?? 0) > 0
}

function codeOf(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'number' ? code : undefined
}
