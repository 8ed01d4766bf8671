import {
  definedOptions,
  failureCategories,
  optionFaults,
  type Clock,
  type FailureCategory,
  type OptionChecks,
  type OptionShape,
} from '@litebus/core'

/**
 * How many messages may be parked because something that the handler depends on did not answer. When none is left,
 * the consumer holds what it has and stands still instead: an outage must not pour a source into its dead letters.
 */
export interface TimeoutBudgetOptions {
  /** Categories that it is for. @defaultValue TIMEOUT and DEPENDENCY */
  readonly categories?: readonly FailureCategory[]
  /** One message may be parked each time this has passed, in milliseconds. @defaultValue 5 minutes */
  readonly refillMs?: number
  /** Messages that may be parked for each one that succeeds. @defaultValue 1 */
  readonly perSuccess?: number
  /** Most that are saved up. @defaultValue 10 */
  readonly max?: number
}

/** Parking by tokens. No I/O. */
export interface TimeoutBudget {
  /** Whether a failure of this category needs a token. */
  applies(category: FailureCategory): boolean
  /** Takes a token, if there is one. */
  take(): boolean
  /** A message was handled with success. */
  succeeded(): void
  /** Milliseconds until there is a token, 0 when there is one now. */
  untilToken(): number
}

/** Starts with one token. */
export function createTimeoutBudget(
  options: Required<TimeoutBudgetOptions>,
  clock: Pick<Clock, 'monotonic'>,
): TimeoutBudget {
  const categories = new Set(options.categories)
  let tokens = Math.min(1, options.max)
  let since = clock.monotonic()
  const refill = (): void => {
    const now = clock.monotonic()
    const gained = Math.floor((now - since) / options.refillMs)
    if (gained <= 0) return
    tokens = Math.min(options.max, tokens + gained)
    since += gained * options.refillMs
  }
  return {
    applies: (category) => categories.has(category),
    take() {
      refill()
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
    succeeded() {
      refill()
      tokens = Math.min(options.max, tokens + options.perSuccess)
    },
    untilToken() {
      refill()
      return tokens >= 1 ? 0 : since + options.refillMs - clock.monotonic()
    },
  }
}

/** The defaults, or nothing where it is switched off. */
export function resolveTimeoutBudget(
  given: TimeoutBudgetOptions | false | undefined,
): Required<TimeoutBudgetOptions> | undefined {
  if (given === false) return undefined
  const defaults = { refillMs: 5 * 60_000, perSuccess: 1, max: 10 }
  return { categories: ['TIMEOUT', 'DEPENDENCY'], ...defaults, ...definedOptions(given ?? {}) }
}

const shape: OptionShape<TimeoutBudgetOptions> = {
  categories: 'list?',
  refillMs: 'any?',
  perSuccess: 'any?',
  max: 'any?',
}

/** Names every fault. */
export function checkTimeoutBudget(
  checks: OptionChecks,
  budget: Required<TimeoutBudgetOptions> | undefined,
): void {
  if (budget === undefined) return
  checks.faults.push(...optionFaults('timeoutBudget.', budget, { shape }))
  const categories: readonly FailureCategory[] = Array.isArray(budget.categories) ? budget.categories : []
  for (const category of categories) {
    checks.that(
      failureCategories.includes(category),
      `expected timeoutBudget.categories of the twelve categories, found ${category}`,
    )
  }
  checks.duration('timeoutBudget.refillMs', budget.refillMs, { min: 1 })
  checks.integer('timeoutBudget.perSuccess', budget.perSuccess, { min: 0, max: 1000 })
  checks.integer('timeoutBudget.max', budget.max, { min: 1, max: 1_000_000 })
}
