import type { LiteBusErrorCode } from '../errors/error-code.ts'
import { isLiteBusError } from '../errors/litebus-error.ts'
import { failureCode, isFailure, type Failure, type FailureCategory } from './failure.ts'
import { unwrapException } from './unwrap-exception.ts'

/** Names a failure, or leaves it to the next classifier, as one that throws does. */
export type FailureClassifier = (error: unknown) => Failure | undefined

const categoryOfCode: Readonly<Record<LiteBusErrorCode, FailureCategory>> = {
  ARGUMENT_INVALID: 'VALIDATION',
  OPTIONS_INVALID: 'CONFIGURATION',
  INVALID_OPERATION: 'CONFIGURATION',
  FORMAT_INVALID: 'VALIDATION',
  PAYLOAD_INVALID: 'DESERIALIZATION',
  CONTRACT_NOT_REGISTERED: 'CONFIGURATION',
  IDEMPOTENCY_CONFLICT: 'CONFLICT',
  DUPLICATE_IN_FLIGHT: 'CONFLICT',
  INBOX_DISPATCH_FAILED: 'CONFIGURATION',
  INBOX_INGRESS_REFUSED: 'VALIDATION',
  INBOX_STORAGE_REFUSED: 'REJECTED',
  STORE_UNAVAILABLE: 'DEPENDENCY',
  TRANSPORT_UNAVAILABLE: 'DEPENDENCY',
  TRANSPORT_CLOSED: 'DEPENDENCY',
  TOPOLOGY_MISMATCH: 'CONFIGURATION',
  INVOCATION_FAILED: 'UNKNOWN',
}

const dependencyCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'UND_ERR_SOCKET',
])
const timeoutCodes: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

/**
 * Names any thrown value, the user's classifier first. Only types and codes are read, never text: a message could
 * carry a secret, and no text may steer a settlement. Total.
 */
export function classifyFailure(error: unknown, custom?: FailureClassifier): Failure {
  try {
    const failure = unwrapException(error)
    const named = custom === undefined ? undefined : namedBy(custom, failure)
    return named ?? classifyByType(failure)
  } catch {
    return { category: 'UNKNOWN', code: 'UNCLASSIFIABLE' }
  }
}

/** A classifier that throws or answers something else leaves the failure to the next one. */
function namedBy(custom: FailureClassifier, error: unknown): Failure | undefined {
  try {
    const named: unknown = custom(error)
    return isFailure(named) ? { category: named.category, code: failureCode(named.code) } : undefined
  } catch {
    return undefined
  }
}

function classifyByType(error: unknown): Failure {
  if (isLiteBusError(error)) return classifyOurs(error.code)
  if (typeof error !== 'object' || error === null) return { category: 'UNKNOWN', code: 'THROWN_VALUE' }
  const name = (error as Error).name
  if (name === 'AbortError') return { category: 'CANCELLED', code: 'ABORTED' }
  if (name === 'TimeoutError') return { category: 'TIMEOUT', code: 'TIMEOUT' }
  return classifyByCode(error) ?? { category: 'UNKNOWN', code: className(error) }
}

/** An error of another copy of this package may have a code that this one does not know. */
function classifyOurs(code: unknown): Failure {
  const known: Readonly<Partial<Record<string, FailureCategory>>> = categoryOfCode
  if (typeof code !== 'string') return { category: 'UNKNOWN', code: 'UNKNOWN' }
  return {
    category: (Object.hasOwn(known, code) ? known[code] : undefined) ?? 'UNKNOWN',
    code: failureCode(code),
  }
}

/** Network faults carry a code, or (as `fetch` does) wrap an error that has one. */
function classifyByCode(error: object): Failure | undefined {
  const codes = [codeOf(error), codeOf((error as Error).cause)]
  for (const code of codes) {
    if (dependencyCodes.has(code)) return { category: 'DEPENDENCY', code }
    if (timeoutCodes.has(code)) return { category: 'TIMEOUT', code }
  }
  return undefined
}

function codeOf(value: unknown): string {
  const code =
    typeof value === 'object' && value !== null ? (value as { readonly code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** The name of the class comes from source code; the `name` property could come from anywhere. */
function className(error: object): string {
  // That of the prototype: a parsed payload that is thrown may have a field of this name.
  const { constructor } = (Object.getPrototypeOf(error) ?? {}) as {
    readonly constructor?: { readonly name?: unknown }
  }
  return typeof constructor?.name === 'string' && constructor.name !== ''
    ? failureCode(constructor.name)
    : 'ERROR'
}
