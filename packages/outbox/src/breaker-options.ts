import {
  backoffFaults,
  checkOptions,
  definedOptions,
  optionFaults,
  type BackoffOptions,
  type OptionShape,
} from '@litebus/core'

/** When messages are kept away from a destination that fails, and for how long. */
export interface CircuitBreakerOptions {
  /** Failures of the broker in a row after which a destination is left alone. @defaultValue 5 */
  readonly failureThreshold?: number
  /** Milliseconds before the first probe. @defaultValue 500 */
  readonly initialDelayMs?: number
  /** Most milliseconds between two probes; the time doubles with each probe that fails. @defaultValue 15 000 */
  readonly maxDelayMs?: number
}

/** Options with their defaults filled in. */
export interface ResolvedBreakerOptions {
  /** Failures in a row that break it. */
  readonly failureThreshold: number
  /** Waits before probes, and before a message that met a failure is tried again. */
  readonly waits: BackoffOptions
}

/** Defaults of {@link CircuitBreakerOptions}. */
export const breakerDefaults: Required<CircuitBreakerOptions> = Object.freeze({
  failureThreshold: 5,
  initialDelayMs: 500,
  maxDelayMs: 15_000,
})

const shape: OptionShape<CircuitBreakerOptions> = {
  failureThreshold: 'any?',
  initialDelayMs: 'any?',
  maxDelayMs: 'any?',
}

/** Fills in the defaults; every fault is named, none is thrown. */
export function resolveBreakerOptions(
  given: CircuitBreakerOptions = {},
): ResolvedBreakerOptions & { readonly faults: readonly string[] } {
  const { failureThreshold, initialDelayMs, maxDelayMs } = { ...breakerDefaults, ...definedOptions(given) }
  // Half of the wait is random, so that many processes do not probe at once, and half is not, so that none probes hot.
  const waits = { initialDelayMs, multiplier: 2, maxDelayMs, jitter: 'equal' } as const
  const checks = checkOptions()
  checks.integer('circuitBreaker.failureThreshold', failureThreshold, { min: 1, max: 1_000_000 })
  checks.duration('circuitBreaker.initialDelayMs', initialDelayMs, { min: 1 })
  return {
    failureThreshold,
    waits,
    faults: [
      ...optionFaults('circuitBreaker.', given, { shape }),
      ...checks.faults,
      ...backoffFaults('circuitBreaker', waits),
    ],
  }
}
