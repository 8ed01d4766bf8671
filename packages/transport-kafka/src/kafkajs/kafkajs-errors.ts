import type { BrokerRefusal } from '../driver.ts'
import { isRefusal } from '../refusals.ts'

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
  return protocolError !== undefined && isRefusal(protocolError) ? { protocolError } : undefined
}

/** The broker answered, so that asking again over another connection brings the same. */
export function isAnswer(error: unknown): boolean {
  return protocolErrorOf(error) !== undefined
}
