import { checkOptions, OptionsError, silentLogger, systemClock, type Clock, type Logger } from '@litebus/core'

/** What a part is told when it has to stop. Parts take what they know: processors the grace, consumers the budget. */
export interface StopBudget {
  /** Milliseconds in all. */
  readonly budgetMs: number
  /** Milliseconds for work that is under way. */
  readonly graceMs: number
  /** Milliseconds to wait after that work was aborted. */
  readonly abortWaitMs: number
}

/** Something that a host starts and stops: a processor, an ingress, a consumer, a server, a pool. */
export interface HostedPart {
  /** Unique name, shown in reports. */
  readonly name: string
  /** Starts it; the next part starts when this has resolved. */
  readonly start?: () => unknown
  /** Stops it within the budget; the part before stops when this has resolved, or when the budget is over. */
  readonly stop?: (budget: StopBudget) => unknown
  /** Resolves while the part can do its work. */
  readonly probe?: () => unknown
}

/** Options of {@link createHost}. */
export interface HostOptions {
  /** Parts in the order in which they start; they stop in the opposite order. */
  readonly parts: readonly HostedPart[]
  /** One absolute deadline for the whole stop, in milliseconds. @defaultValue 30 000 */
  readonly shutdownBudgetMs?: number
  /** How long one probe may take, in milliseconds. @defaultValue 2000 */
  readonly probeTimeoutMs?: number
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Time. @defaultValue the clock of the machine */
  readonly clock?: Clock
}

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveHostOptions(options: HostOptions): Required<HostOptions> {
  const resolved = {
    shutdownBudgetMs: 30_000,
    probeTimeoutMs: 2000,
    logger: silentLogger,
    clock: systemClock,
    ...options,
  }
  const checks = checkOptions()
  const names = new Set<string>()
  for (const { name } of resolved.parts) {
    checks.text('part.name', name)
    checks.that(!names.has(name), `expected unique part names, found ${name} twice`)
    names.add(name)
  }
  checks.duration('shutdownBudgetMs', resolved.shutdownBudgetMs)
  checks.duration('probeTimeoutMs', resolved.probeTimeoutMs, { min: 1 })
  if (checks.faults.length > 0) throw new OptionsError('host', checks.faults)
  return Object.freeze(resolved)
}
