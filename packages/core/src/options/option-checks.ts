/** Collects every fault of a set of options, so that all of them are reported at once. */
export interface OptionChecks {
  /** What is wrong so far. */
  readonly faults: string[]
  /** Checks an integer. */
  integer(name: string, value: number, range: { readonly min: number; readonly max?: number }): void
  /** Checks a duration in milliseconds: finite, at least `min`. */
  duration(name: string, value: number, range?: { readonly min?: number; readonly max?: number }): void
  /** Checks that text is not blank. */
  text(name: string, value: unknown): void
  /** Adds a fault when a condition does not hold. */
  that(condition: boolean, fault: string): void
}

/** Starts an empty collection of faults. */
export function checkOptions(): OptionChecks {
  const faults: string[] = []
  const within = (value: number, min: number, max: number): boolean => value >= min && value <= max
  return {
    faults,
    integer(name, value, { min, max = Number.MAX_SAFE_INTEGER }) {
      if (!Number.isSafeInteger(value) || !within(value, min, max)) {
        faults.push(`expected ${name} to be an integer ${rangeText(min, max)}, found ${String(value)}`)
      }
    },
    duration(name, value, { min = 0, max = 2 ** 31 - 1 } = {}) {
      if (typeof value !== 'number' || !Number.isFinite(value) || !within(value, min, max)) {
        faults.push(`expected ${name} to be milliseconds ${rangeText(min, max)}, found ${String(value)}`)
      }
    },
    text(name, value) {
      if (typeof value !== 'string' || value.trim() === '') {
        faults.push(
          `expected ${name} to be text, found ${typeof value === 'string' ? 'blank text' : typeof value}`,
        )
      }
    },
    that(condition, fault) {
      if (!condition) faults.push(fault)
    },
  }
}

function rangeText(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER
    ? `of at least ${String(min)}`
    : `from ${String(min)} to ${String(max)}`
}
