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
  type TransportCapabilities,
} from '@litebus/core'
import { checkDedup, resolveDedup, type ConsumerDedupOptions } from './dedup-options.ts'
import { lossyLimitFaults } from './lossy-limit.ts'
import { checkTimeoutBudget, resolveTimeoutBudget, type TimeoutBudgetOptions } from './timeout-budget.ts'

/** Options of {@link createConsumer}. */
export interface ConsumerOptions<TTransaction = unknown> {
  /** The broker. */
  readonly transport: Transport
  /** Queue, topic or subscription. */
  readonly source: string
  /** Handlers, one a contract and version. Transactional ones need `dedup`, whose transaction completes them. */
  readonly handlers: readonly AnyMessageHandler<TTransaction>[]
  /** Runs handlers once for each message id, as far as its store reaches. @defaultValue none */
  readonly dedup?: ConsumerDedupOptions<TTransaction>
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
  /**
   * How long a delivery is held while its handoff fails, in milliseconds.
   * @defaultValue 20 minutes, or `maxHoldMs` of the source's capabilities where that is less
   */
  readonly holdLimitMs?: number
  /**
   * How many may be parked for `TIMEOUT` and `DEPENDENCY` before intake stands still instead; false: any number.
   * @defaultValue one at once, one each 5 minutes, and one for each success, at most 10 saved up
   */
  readonly timeoutBudget?: TimeoutBudgetOptions | false
  /** Deliveries after which a message is parked with code `DELIVERY_LIMIT_EXCEEDED`, where the broker counts. @defaultValue 20 */
  readonly maxDeliveries?: number
  /**
   * Allows a source with a delivery limit and no dead-letter target, where the broker drops what comes too often.
   * @defaultValue false
   */
  readonly allowLossyLimit?: boolean
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
  dedup: 'object?',
  retry: 'object?',
  concurrency: 'any?',
  prefetch: 'any?',
  maxMessageBytes: 'any?',
  executionBudgetMs: 'any?',
  settlementBudgetMs: 'any?',
  publishTimeoutMs: 'any?',
  holdLimitMs: 'any?',
  maxDeliveries: 'any?',
  allowLossyLimit: 'any?',
  trustApplicationHeaders: 'any?',
  timeoutBudget: 'any?',
  restartDelayMs: 'any?',
  classifier: 'function?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

const longestHoldMs = 20 * 60_000

/** Options with every default filled in. */
export type ResolvedConsumerOptions = Required<
  Omit<ConsumerOptions, 'classifier' | 'timeoutBudget' | 'dedup'>
> &
  Pick<ConsumerOptions, 'classifier'> & {
    readonly timeoutBudget: Required<TimeoutBudgetOptions> | undefined
    readonly dedup: Required<ConsumerDedupOptions> | undefined
  }

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveConsumerOptions(given: ConsumerOptions): ResolvedConsumerOptions {
  const options = readOptions('consumer', given, { shape })
  const concurrency = options.concurrency ?? 1
  const executionBudgetMs = options.executionBudgetMs ?? 30_000
  const { maxHoldMs = longestHoldMs } = options.transport.capabilitiesOf(options.source)
  const resolved: ResolvedConsumerOptions = {
    retry: {},
    prefetch: concurrency,
    maxMessageBytes: 1024 * 1024,
    settlementBudgetMs: 5000,
    publishTimeoutMs: 30_000,
    holdLimitMs: Math.min(longestHoldMs, maxHoldMs),
    maxDeliveries: 20,
    allowLossyLimit: false,
    trustApplicationHeaders: false,
    restartDelayMs: 5000,
    logger: silentLogger,
    telemetry: noTelemetry,
    clock: systemClock,
    random: Math.random,
    ...options,
    concurrency,
    executionBudgetMs,
    timeoutBudget: resolveTimeoutBudget(options.timeoutBudget),
    dedup: resolveDedup(options.dedup, { ...options, executionBudgetMs }),
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
  checks.that(
    !(resolved.prefetch < resolved.concurrency),
    `expected prefetch of at least concurrency (${String(resolved.concurrency)}), found ${String(resolved.prefetch)}: so many are never handled at a time`,
  )
  checks.that(
    options.timeoutBudget === undefined ||
      options.timeoutBudget === false ||
      typeof options.timeoutBudget === 'object',
    `expected timeoutBudget to be an object or false, found ${typeof options.timeoutBudget}`,
  )
  checkTimeoutBudget(checks, resolved.timeoutBudget)
  checkDedup(checks, resolved)
  checks.that(
    resolved.retry.deadLetterDestination !== resolved.source,
    `expected deadLetterDestination other than the source, found ${resolved.source} for both: dead letters would come back`,
  )
  const capabilities = resolved.transport.capabilitiesOf(resolved.source)
  const { retryDestination, deadLetterDestination } = resolved.retry
  checks.that(
    retryDestination === undefined || retryDestination !== deadLetterDestination,
    `expected retryDestination other than deadLetterDestination, found ${String(retryDestination)} for both: nobody could tell what is to be tried again`,
  )
  const faults = [
    ...checks.faults,
    ...aheadFaults(resolved, capabilities),
    ...retryProfileFaults(
      resolved.retry,
      capabilities,
      resolved.transport.capabilitiesOf(resolved.retry.retryDestination ?? resolved.source),
    ),
    ...lossyLimitFaults(resolved),
  ]
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

/**
 * Where a part of the stream cannot be paused, what failed is held where it is. Whatever makes it go back after all
 * would let everything that was pushed ahead overtake it, so that nothing may be.
 */
function aheadFaults(
  { retry, concurrency, prefetch }: Pick<ResolvedConsumerOptions, 'retry' | 'concurrency' | 'prefetch'>,
  { pausable }: Pick<TransportCapabilities, 'pausable'>,
): readonly string[] {
  if (retry.ordering !== 'preserve' || pausable) return []
  return Object.entries({ concurrency, prefetch }).flatMap(([name, value]) =>
    value === 1
      ? []
      : [
          `ordering 'preserve' contradicts ${name} ${String(value)} where the transport capability pausable is false: expected 1, since what was pushed ahead would overtake what goes back`,
        ],
  )
}
