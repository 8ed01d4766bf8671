import type { DeliveryFault } from './delivery-fault.ts'
import type { LiteBusErrorCode } from './error-code.ts'

const brand = Symbol.for('@litebus/error')

/** What an error may carry besides its message. */
export interface LiteBusErrorOptions {
  /** The error that led to this one. It is kept, never logged by LiteBus. */
  readonly cause?: unknown
  /** What was wrong with the delivery, for errors about one. */
  readonly deliveryFault?: DeliveryFault
}

/**
 * The one base of every error that LiteBus throws. Catch by {@link isLiteBusError} and {@link LiteBusError.code}:
 * both agree across duplicate installs of this package, which `instanceof` does not.
 */
export class LiteBusError extends Error {
  /** What went wrong, for programs. */
  readonly code: LiteBusErrorCode
  /** What was wrong with the delivery, for errors about one; unlike the message, it may be logged. */
  readonly deliveryFault?: DeliveryFault

  /** Builds an error; subclasses fix the code. */
  constructor(code: LiteBusErrorCode, message: string, options?: LiteBusErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    if (options?.deliveryFault !== undefined) this.deliveryFault = options.deliveryFault
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Tells whether a value is an error of LiteBus, from whichever copy of this package, optionally with one of the
 * given codes. Total: no value makes it throw, proxies and hostile getters included.
 */
export function isLiteBusError(value: unknown, ...codes: readonly LiteBusErrorCode[]): value is LiteBusError {
  try {
    if (typeof value !== 'object' || value === null) return false
    if ((value as Record<PropertyKey, unknown>)[brand] !== true) return false
    return codes.length === 0 || codes.includes((value as LiteBusError).code)
  } catch {
    return false
  }
}
