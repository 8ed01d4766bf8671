import {
  backoffFaults,
  checkOptions,
  guardClassifier,
  isolateLogger,
  isolateTelemetry,
  noTelemetry,
  OptionsError,
  optionFaults,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type BackoffOptions,
  type Clock,
  type FailureClassifier,
  type LeaseRequest,
  type Logger,
  type MessageStore,
  type OptionShape,
  type PortRule,
  type Telemetry,
} from '@litebus/core'
import type { Dispatcher, DispatchHooks, HookFailurePolicy } from './dispatcher.ts'

/** Options that every processor takes. */
export interface ProcessorTuning {
  /** Label of this processor in leases and logs, 1 to 100 characters. @defaultValue the axis */
  readonly name?: string
  /** Most messages of one lease. @defaultValue 100 */
  readonly batchSize?: number
  /** Most dispatches at a time. @defaultValue 8 */
  readonly concurrency?: number
  /** Duration of a lease in milliseconds. @defaultValue 60 000 */
  readonly leaseMs?: number
  /** Interval of renewals in milliseconds, at most half of the lease. @defaultValue 15 000 */
  readonly heartbeatMs?: number
  /** Longest wait between two looks at the store in milliseconds. @defaultValue 1000 */
  readonly pollMs?: number
  /** Attempts before a message is parked, the first one included. @defaultValue 10 */
  readonly maxAttempts?: number
  /** Delay between attempts. */
  readonly backoff?: BackoffOptions
  /** Most messages of one ordering key in one lease. @defaultValue 100 */
  readonly maxPerKey?: number
  /** What a parked message does to its ordering key. @defaultValue 'block' */
  readonly onKeyDeadLetter?: NonNullable<LeaseRequest['onKeyDeadLetter']>
  /** Only messages of these tenants; the empty string is the unscoped partition. @defaultValue all */
  readonly tenants?: readonly string[]
  /** Only messages of these contract names. @defaultValue all */
  readonly contracts?: readonly string[]
  /** Calls around each dispatch. */
  readonly hooks?: DispatchHooks
  /** What a failing `afterDispatch` does. @defaultValue 'deadLetter' */
  readonly onHookFailure?: HookFailurePolicy
  /** True: a stop cancels a terminal settle that is under way. @defaultValue false */
  readonly honorShutdownTokenOnPersist?: boolean
  /** How long handlers may go on after a stop was asked for, in milliseconds. @defaultValue 30 000 */
  readonly graceMs?: number
  /**
   * How long a dispatch may take, in milliseconds. Then its signal is aborted; when it has not ended `abortWaitMs` later
   * it is given up: its slot is free, the attempt has failed with `EXECUTION_BUDGET_EXCEEDED`, and what it does late is
   * refused. JavaScript cannot end it, so code that never looks at its signal runs on beside the next attempt.
   * @defaultValue 900 000
   */
  readonly executionBudgetMs?: number
  /**
   * How long handlers may take to end after their signal was aborted, by a stop, a lost lease or their execution
   * budget, in milliseconds. @defaultValue 30 000
   */
  readonly abortWaitMs?: number
  /** Names failures before the default classifier does. */
  readonly classifier?: FailureClassifier
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Where measurements go. @defaultValue nowhere */
  readonly telemetry?: Telemetry
  /** Time. @defaultValue the clock of the machine */
  readonly clock?: Clock
  /** Uniform in [0, 1), for jitter and owner names. @defaultValue Math.random */
  readonly random?: () => number
}

/** Options of {@link createProcessor}. */
export interface ProcessorOptions<TTransaction> extends ProcessorTuning {
  /** Where messages are leased. */
  readonly store: MessageStore<TTransaction>
  /** What is done with them. */
  readonly dispatcher: Dispatcher
}

/** Defaults of {@link ProcessorTuning}. */
export const processorDefaults: {
  /** Most messages of one lease. */
  readonly batchSize: 100
  /** Most dispatches at a time. */
  readonly concurrency: 8
  /** Duration of a lease. */
  readonly leaseMs: 60_000
  /** Interval of renewals. */
  readonly heartbeatMs: 15_000
  /** Longest wait between two looks. */
  readonly pollMs: 1000
  /** Attempts before parking. */
  readonly maxAttempts: 10
  /** Most messages of one key in one lease. */
  readonly maxPerKey: 100
  /** Grace of a stop. */
  readonly graceMs: 30_000
  /** Time for one dispatch. */
  readonly executionBudgetMs: 900_000
  /** Wait after the abort. */
  readonly abortWaitMs: 30_000
} = Object.freeze({
  batchSize: 100,
  concurrency: 8,
  leaseMs: 60_000,
  heartbeatMs: 15_000,
  pollMs: 1000,
  maxAttempts: 10,
  maxPerKey: 100,
  graceMs: 30_000,
  executionBudgetMs: 900_000,
  abortWaitMs: 30_000,
})

/** What the options that every processor takes must be. */
export const processorTuningShape: OptionShape<ProcessorTuning> = {
  name: 'any?',
  batchSize: 'any?',
  concurrency: 'any?',
  leaseMs: 'any?',
  heartbeatMs: 'any?',
  pollMs: 'any?',
  maxAttempts: 'any?',
  backoff: 'object?',
  maxPerKey: 'any?',
  onKeyDeadLetter: 'any?',
  tenants: 'list?',
  contracts: 'list?',
  hooks: 'object?',
  onHookFailure: 'any?',
  honorShutdownTokenOnPersist: 'any?',
  graceMs: 'any?',
  executionBudgetMs: 'any?',
  abortWaitMs: 'any?',
  classifier: 'function?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

/** What the store of a processor must have. */
export const processorStoreRule: PortRule = {
  members: ['axis', 'lease', 'renew', 'settle', 'release', 'waitForWork'],
}

const shape: OptionShape<ProcessorOptions<never>> = {
  ...processorTuningShape,
  store: processorStoreRule,
  dispatcher: { members: ['dispatch'] },
}

const hooksShape: OptionShape<DispatchHooks> = {
  beforeDispatch: 'function?',
  afterDispatch: 'function?',
  abandon: 'function?',
}

/** Options with every default filled in. */
export type ResolvedProcessorOptions<TTransaction> = Required<
  Omit<ProcessorOptions<TTransaction>, 'tenants' | 'contracts' | 'classifier'>
> &
  Pick<ProcessorOptions<TTransaction>, 'tenants' | 'contracts' | 'classifier'>

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveProcessorOptions<TTransaction>(
  given: ProcessorOptions<TTransaction>,
): ResolvedProcessorOptions<TTransaction> {
  const options = readOptions('processor', given, { shape })
  const resolved: ResolvedProcessorOptions<TTransaction> = {
    ...processorDefaults,
    name: options.store.axis,
    backoff: {},
    onKeyDeadLetter: 'block',
    hooks: {},
    onHookFailure: 'deadLetter',
    honorShutdownTokenOnPersist: false,
    logger: silentLogger,
    telemetry: noTelemetry,
    clock: systemClock,
    random: Math.random,
    ...options,
  }
  const checks = checkOptions()
  checks.text('name', resolved.name)
  checks.that(resolved.name.length <= 100, 'expected name of at most 100 characters')
  checks.integer('batchSize', resolved.batchSize, { min: 1, max: 10_000 })
  checks.integer('concurrency', resolved.concurrency, { min: 1, max: 10_000 })
  checks.integer('maxAttempts', resolved.maxAttempts, { min: 1, max: 1_000_000 })
  checks.integer('maxPerKey', resolved.maxPerKey, { min: 1, max: 10_000 })
  checks.duration('leaseMs', resolved.leaseMs, { min: 10 })
  checks.duration('heartbeatMs', resolved.heartbeatMs, { min: 5 })
  checks.duration('pollMs', resolved.pollMs, { min: 1 })
  checks.duration('graceMs', resolved.graceMs)
  checks.duration('executionBudgetMs', resolved.executionBudgetMs, { min: 1 })
  checks.duration('abortWaitMs', resolved.abortWaitMs)
  checks.that(
    !(resolved.heartbeatMs > resolved.leaseMs / 2),
    `expected heartbeatMs of at most half of leaseMs (${String(resolved.leaseMs / 2)}), found ${String(resolved.heartbeatMs)}`,
  )
  checks.that(
    ['block', 'park', 'skip'].includes(resolved.onKeyDeadLetter),
    `expected onKeyDeadLetter to be 'block', 'park' or 'skip', found ${resolved.onKeyDeadLetter}`,
  )
  checks.that(
    ['deadLetter', 'completeDespiteHookFailure'].includes(resolved.onHookFailure),
    `expected onHookFailure to be 'deadLetter' or 'completeDespiteHookFailure', found ${resolved.onHookFailure}`,
  )
  const faults = [
    ...checks.faults,
    ...backoffFaults('backoff', resolved.backoff),
    ...optionFaults('hooks.', resolved.hooks, { shape: hooksShape }),
  ]
  if (faults.length > 0) throw new OptionsError('processor', faults)
  const logger = isolateLogger(resolved.logger)
  const classifier = guardClassifier(resolved.classifier, { logger, clock: resolved.clock })
  return Object.freeze({
    ...resolved,
    logger,
    telemetry: isolateTelemetry(resolved.telemetry),
    ...(classifier === undefined ? {} : { classifier }),
  })
}
