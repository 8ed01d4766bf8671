import {
  checkOptions,
  OptionsError,
  portRules,
  readOptions,
  systemClock,
  type Clock,
  type OptionShape,
} from '@litebus/core'

/** Options of {@link memoryStorage}. */
export interface MemoryStorageOptions {
  /** Clock of the store; tests pass their own and advance it. @defaultValue the clock of the machine */
  readonly clock?: Clock
  /** Rows that may wait on one axis before writes are refused with `INBOX_STORAGE_REFUSED`. @defaultValue no limit */
  readonly maxPendingRows?: number
  /** How long a suspect waits for held leases before ordinary leasing resumes for as long. @defaultValue 60000 */
  readonly suspectPatienceMs?: number
}

/** Options with their defaults. */
export interface ResolvedOptions {
  readonly clock: Clock
  readonly maxPendingRows: number
  readonly suspectPatienceMs: number
}

const shape: OptionShape<MemoryStorageOptions> = {
  clock: portRules.clock,
  maxPendingRows: 'any?',
  suspectPatienceMs: 'any?',
}

/** Fills in the defaults and reports every fault at once. */
export function resolveOptions(given: MemoryStorageOptions): ResolvedOptions {
  const options = readOptions('memoryStorage', given, { shape })
  const resolved = {
    clock: options.clock ?? systemClock,
    maxPendingRows: options.maxPendingRows ?? Number.MAX_SAFE_INTEGER,
    suspectPatienceMs: options.suspectPatienceMs ?? 60_000,
  }
  const checks = checkOptions()
  checks.integer('maxPendingRows', resolved.maxPendingRows, { min: 1 })
  checks.duration('suspectPatienceMs', resolved.suspectPatienceMs)
  if (checks.faults.length > 0) throw new OptionsError('memoryStorage', checks.faults)
  return resolved
}
