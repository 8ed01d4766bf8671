import {
  checkOptions,
  isolateLogger,
  optionFaults,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type Clock,
  type Logger,
  type OptionShape,
} from '@litebus/core'

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
  /** Stops it within its budget; the part before stops when this has resolved, or when the budget is over. */
  readonly stop?: (budget: StopBudget) => unknown
  /**
   * Milliseconds of the shutdown that are kept for this part, and that it may take. Without it the part gets an even
   * share of what is left for those like it; time that it does not use is left for the ones after it.
   * @defaultValue an even share
   */
  readonly stopBudgetMs?: number
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
  /**
   * How long the process may live on after `run` has stopped the parts, or could not start them, in milliseconds:
   * together with `shutdownBudgetMs` the longest that a signal may take. A socket or timer that
   * something has left open must not keep it for ever: it is then ended with its exit code. `false` leaves that to the
   * application. @defaultValue 1000
   */
  readonly exitAfterMs?: number | false
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Time. @defaultValue the clock of the machine */
  readonly clock?: Clock
}

const shape: OptionShape<HostOptions> = {
  parts: 'list',
  shutdownBudgetMs: 'any?',
  probeTimeoutMs: 'any?',
  exitAfterMs: 'any?',
  logger: portRules.logger,
  clock: portRules.clock,
}

const partShape: OptionShape<HostedPart> = {
  name: 'text',
  start: 'function?',
  stop: 'function?',
  stopBudgetMs: 'any?',
  probe: 'function?',
}

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveHostOptions(given: HostOptions): Required<HostOptions> {
  const options = readOptions('host', given, { shape })
  const resolved = {
    shutdownBudgetMs: 30_000,
    probeTimeoutMs: 2000,
    exitAfterMs: 1000,
    logger: silentLogger,
    clock: systemClock,
    ...options,
  }
  const checks = checkOptions()
  const names = new Set<string>()
  const misnamed = resolved.parts.flatMap((part, index) =>
    optionFaults(`parts[${String(index)}].`, part, { shape: partShape }),
  )
  if (misnamed.length > 0) throw new OptionsError('host', misnamed)
  for (const { name, stopBudgetMs } of resolved.parts) {
    checks.text('part.name', name)
    checks.that(!names.has(name), `expected unique part names, found ${name} twice`)
    names.add(name)
    if (stopBudgetMs !== undefined) checks.duration(`stopBudgetMs of ${name}`, stopBudgetMs)
  }
  const kept = resolved.parts.reduce((sum, { stopBudgetMs = 0 }) => sum + stopBudgetMs, 0)
  checks.that(
    !(kept > resolved.shutdownBudgetMs),
    `expected stopBudgetMs of all parts within shutdownBudgetMs (${String(resolved.shutdownBudgetMs)}), found ${String(kept)}`,
  )
  if (resolved.exitAfterMs !== false) checks.duration('exitAfterMs', resolved.exitAfterMs)
  checks.duration('shutdownBudgetMs', resolved.shutdownBudgetMs)
  checks.duration('probeTimeoutMs', resolved.probeTimeoutMs, { min: 1 })
  if (checks.faults.length > 0) throw new OptionsError('host', checks.faults)
  return Object.freeze({ ...resolved, logger: isolateLogger(resolved.logger) })
}
