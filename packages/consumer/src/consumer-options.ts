import {
  checkOptions,
  guardClassifier,
  isolateLogger,
  isolateTelemetry,
  noTelemetry,
  OptionsError,
  portRules,
  readOptions,
  retryProfileFaults,
  silentLogger,
  systemClock,
  type AnyMessageHandler,
  type Clock,
  type FailureClassifier,
  type Logger,
  type OptionShape,
  type RetryProfile,
  type Telemetry,
  type Transport,
} from '@litebus/core'
import { checkTimeoutBudget, resolveTimeoutBudget, type TimeoutBudgetOptions } from './timeout-budget.ts'

/** Options of {@link createConsumer}. */
export interface ConsumerOptions {
  /** The broker. */
  readonly transport: Transport
  /** Queue, topic or subscription. */
  readonly source: string
  /** Handlers, one a contract and version. Their context has no transaction. */
  readonly handlers: readonly AnyMessageHandler[]
  /** How failures are met. A profile that contradicts itself or the transport is refused. @defaultValue no retry */
  readonly retry?: RetryProfile
  /** Most deliveries handled at a time. @defaultValue 1 */
  readonly concurrency?: number
  /** Deliveries that the broker may push ahead. @defaultValue concurrency */
  readonly prefetch?: number
  /** Largest body in bytes; 0 means no limit. @defaultValue 1 MiB */
  readonly maxMessageBytes?: number
  /** How long a handler may take, in milliseconds. @defaultValue 30 000 */
  readonly executionBudgetMs?: number
  /** How long a settlement may take, in milliseconds. @defaultValue 5000 */
  readonly settlementBudgetMs?: number
  /** How long the publish of a copy may take, in milliseconds. @defaultValue 30 000 */
  readonly publishTimeoutMs?: number
  /** How long a delivery is held while its handoff fails, in milliseconds. @defaultValue 20 minutes */
  readonly holdLimitMs?: number
  /**
   * How many may be parked for `TIMEOUT` and `DEPENDENCY` before intake stands still instead; false: any number.
   * @defaultValue one at once, one each 5 minutes, and one for each success, at most 10 saved up
   */
  readonly timeoutBudget?: TimeoutBudgetOptions | false
  /** Deliveries after which a message is parked with code `DELIVERY_LIMIT_EXCEEDED`, where the broker counts. @defaultValue 20 */
  readonly maxDeliveries?: number
  /** Whether tenant and idempotency key of the publisher count. @defaultValue false */
  readonly trustApplicationHeaders?: boolean
  /** Pause before a lost subscription is made again, in milliseconds. @defaultValue 5000 */
  readonly restartDelayMs?: number
  /** Names failures before the default classifier does. */
  readonly classifier?: FailureClassifier
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Where measurements go. @defaultValue nowhere */
  readonly telemetry?: Telemetry
  /** Time. @defaultValue the clock of the machine */
  readonly clock?: Clock
  /** Uniform in [0, 1). @defaultValue Math.random */
  readonly random?: () => number
}

const shape: OptionShape<ConsumerOptions> = {
  transport: portRules.transport,
  source: 'text',
  handlers: 'list',
  retry: 'object?',
  concurrency: 'any?',
  prefetch: 'any?',
  maxMessageBytes: 'any?',
  executionBudgetMs: 'any?',
  settlementBudgetMs: 'any?',
  publishTimeoutMs: 'any?',
  holdLimitMs: 'any?',
  maxDeliveries: 'any?',
  trustApplicationHeaders: 'any?',
  timeoutBudget: 'any?',
  restartDelayMs: 'any?',
  classifier: 'function?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

/** Options with every default filled in. */
export type ResolvedConsumerOptions = Required<Omit<ConsumerOptions, 'classifier' | 'timeoutBudget'>> &
  Pick<ConsumerOptions, 'classifier'> & { readonly timeoutBudget: Required<TimeoutBudgetOptions> | undefined }

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveConsumerOptions(given: ConsumerOptions): ResolvedConsumerOptions {
  const options = readOptions('consumer', given, { shape })
  const concurrency = options.concurrency ?? 1
  const resolved: ResolvedConsumerOptions = {
    retry: {},
    prefetch: concurrency,
    maxMessageBytes: 1024 * 1024,
    executionBudgetMs: 30_000,
    settlementBudgetMs: 5000,
    publishTimeoutMs: 30_000,
    holdLimitMs: 20 * 60_000,
    maxDeliveries: 20,
    trustApplicationHeaders: false,
    restartDelayMs: 5000,
    logger: silentLogger,
    telemetry: noTelemetry,
    clock: systemClock,
    random: Math.random,
    ...options,
    concurrency,
    timeoutBudget: resolveTimeoutBudget(options.timeoutBudget),
  }
  const checks = checkOptions()
  checks.text('source', resolved.source)
  checks.integer('concurrency', resolved.concurrency, { min: 1, max: 10_000 })
  checks.integer('prefetch', resolved.prefetch, { min: 1, max: 65_535 })
  checks.integer('maxMessageBytes', resolved.maxMessageBytes, { min: 0 })
  checks.integer('maxDeliveries', resolved.maxDeliveries, { min: 1 })
  checks.duration('executionBudgetMs', resolved.executionBudgetMs, { min: 1 })
  checks.duration('settlementBudgetMs', resolved.settlementBudgetMs, { min: 1 })
  checks.duration('publishTimeoutMs', resolved.publishTimeoutMs, { min: 1 })
  checks.duration('holdLimitMs', resolved.holdLimitMs)
  checks.duration('restartDelayMs', resolved.restartDelayMs)
  checkTimeoutBudget(checks, resolved.timeoutBudget)
  checks.that(
    resolved.retry.deadLetterDestination !== resolved.source,
    `expected deadLetterDestination other than the source, found ${resolved.source} for both: dead letters would come back`,
  )
  for (const { contract, transactional } of resolved.handlers) {
    checks.that(
      transactional !== true,
      `expected handlers that are not transactional, found one of ${contract.name}: only an inbox has the transaction that completes a message`,
    )
  }
  const capabilities = resolved.transport.capabilitiesOf(resolved.source)
  const faults = [...checks.faults, ...retryProfileFaults(resolved.retry, capabilities)]
  if (faults.length > 0) throw new OptionsError('consumer', faults)
  const logger = isolateLogger(resolved.logger)
  const classifier = guardClassifier(resolved.classifier, { logger, clock: resolved.clock })
  return Object.freeze({
    ...resolved,
    logger,
    telemetry: isolateTelemetry(resolved.telemetry),
    ...(classifier === undefined ? {} : { classifier }),
  })
}
