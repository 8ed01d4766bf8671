import { definedOptions } from '../options/defined-options.ts'
import { optionFaults, type OptionShape } from '../options/read-options.ts'
import { clampTimerMs } from '../time/timer-limits.ts'

/** How long to wait before the next attempt. */
export interface BackoffOptions {
  /** `exponential` grows with the attempt, `fixed` is always the initial delay. @defaultValue 'exponential' */
  readonly kind?: 'exponential' | 'fixed'
  /** Delay after the first failure, in milliseconds. @defaultValue 1000 */
  readonly initialDelayMs?: number
  /** Factor from one attempt to the next. @defaultValue 2 */
  readonly multiplier?: number
  /** Longest delay before jitter, in milliseconds. @defaultValue 300 000 */
  readonly maxDelayMs?: number
  /** `full`: uniform in [0, delay]; `equal`: uniform in [delay / 2, delay]; `none`. @defaultValue 'full' */
  readonly jitter?: 'full' | 'equal' | 'none'
}

/** Defaults of {@link BackoffOptions}. */
export const backoffDefaults: Required<BackoffOptions> = Object.freeze({
  kind: 'exponential',
  initialDelayMs: 1000,
  multiplier: 2,
  maxDelayMs: 300_000,
  jitter: 'full',
})

/**
 * Delay in milliseconds after the failed `attempt` (1-based): `min(maxDelay, initialDelay × multiplier^(attempt−1))`,
 * then jitter. Always finite, at least 0, and short enough for a timer.
 *
 * @param random - uniform in [0, 1).
 */
export function backoffDelayMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const { kind, initialDelayMs, multiplier, maxDelayMs, jitter } = {
    ...backoffDefaults,
    ...definedOptions(options),
  }
  const factor = kind === 'fixed' ? 1 : multiplier ** Math.max(0, attempt - 1)
  // 0 × Infinity is NaN, and a timer of NaN fires at once: an initial delay of 0 stays 0 however large the factor.
  const grown = initialDelayMs === 0 ? 0 : initialDelayMs * factor
  const delay = clampTimerMs(Math.min(maxDelayMs, grown))
  if (jitter === 'none') return delay
  return jitter === 'equal' ? delay / 2 + (random() * delay) / 2 : random() * delay
}

const backoffShape: OptionShape<BackoffOptions> = {
  kind: 'any?',
  initialDelayMs: 'any?',
  multiplier: 'any?',
  maxDelayMs: 'any?',
  jitter: 'any?',
}

/** Names every fault of backoff options; `name` is where they stand. */
export function backoffFaults(name: string, options: BackoffOptions): string[] {
  const faults = optionFaults(`${name}.`, options, { shape: backoffShape })
  if (faults.length > 0) return faults
  const { kind, initialDelayMs, multiplier, maxDelayMs, jitter } = {
    ...backoffDefaults,
    ...definedOptions(options),
  }
  const atLeast = (field: string, value: number, least: number): void => {
    if (!Number.isFinite(value) || value < least) {
      faults.push(
        `expected ${name}.${field} to be a finite number of at least ${String(least)}, found ${String(value)}`,
      )
    }
  }
  atLeast('initialDelayMs', initialDelayMs, 0)
  atLeast('multiplier', multiplier, 1)
  atLeast('maxDelayMs', maxDelayMs, 0)
  if (!['exponential', 'fixed'].includes(kind)) {
    faults.push(`expected ${name}.kind to be 'exponential' or 'fixed', found ${kind}`)
  }
  if (!['full', 'equal', 'none'].includes(jitter)) {
    faults.push(`expected ${name}.jitter to be 'full', 'equal' or 'none', found ${jitter}`)
  }
  return faults
}
