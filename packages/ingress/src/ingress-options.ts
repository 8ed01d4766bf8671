import { lossyLimitFaults } from '@litebus/consumer'
import {
  backoffFaults,
  checkOptions,
  definedOptions,
  isolateLogger,
  isolateTelemetry,
  noTelemetry,
  optionFaults,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type BackoffOptions,
  type Clock,
  type Inbox,
  type InboundMessage,
  type Logger,
  type MessageContract,
  type OptionShape,
  type Telemetry,
  type Transport,
} from '@litebus/core'

/** Options of {@link createIngress}. */
export interface IngressOptions {
  /** The broker. */
  readonly transport: Transport
  /** Queue, topic or subscription. */
  readonly source: string
  /** Writer of the inbox. */
  readonly inbox: Inbox<never>
  /** Contracts that may come in; anything else is discarded. */
  readonly contracts: readonly MessageContract<unknown>[]
  /** Resolves when the store of the inbox can be used; asked before intake goes on after an outage. @defaultValue none */
  readonly probe?: () => Promise<void>
  /** Whether failures that may pass return the delivery to the queue. False discards whatever failed. @defaultValue true */
  readonly requeueOnFailure?: boolean
  /** Largest body in bytes; 0 means no limit. @defaultValue 4 MiB */
  readonly maxMessageBytes?: number
  /**
   * Which id identifies a message: that of the broker, or `litebus-message-id` where there is one, so that what a
   * relay published twice is absorbed on brokers that give each publish an id of its own. @defaultValue 'brokerDelivery'
   */
  readonly identity?: 'brokerDelivery' | 'message'
  /** Whether a delivery without an id is refused. @defaultValue true */
  readonly requireStableIdentity?: boolean
  /** Whether id, tenant and idempotency key of the publisher count. Implies identity `message`. @defaultValue false */
  readonly trustApplicationHeaders?: boolean
  /** Asked for each delivery before its headers are read; false discards it. @defaultValue everything is allowed */
  readonly authorizeDelivery?: (message: InboundMessage) => Promise<boolean> | boolean
  /** Most deliveries held at a time. @defaultValue 32 */
  readonly maxInFlightMessages?: number
  /** Accepts several deliveries with one statement. @defaultValue off */
  readonly batch?: IngressBatchOptions
  /** Parks a confirmed copy here before a delivery is discarded. @defaultValue discarded without a copy */
  readonly onDiscard?: { readonly deadLetter: string }
  /** Stops intake after this many discards in a row instead of draining the queue. @defaultValue never */
  readonly pauseAfterConsecutiveDiscards?: number
  /** Pauses intake while more rows are pending than `high`, until fewer are than `low`. @defaultValue off */
  readonly backlog?: IngressBacklogOptions
  /**
   * Allows a source with a delivery limit and no dead-letter target, where the broker drops what comes too often.
   * @defaultValue false
   */
  readonly allowLossyLimit?: boolean
  /**
   * How long a delivery is held while the store or `onDiscard` is unavailable, in milliseconds; `Infinity` for any
   * time. @defaultValue `maxHoldMs` of the source's capabilities: 20 minutes on RabbitMQ, no limit on Kafka
   */
  readonly holdLimitMs?: number
  /** Delay before a delivery that goes back is delivered again. */
  readonly requeueBackoff?: BackoffOptions
  /** How long one accept may take, in milliseconds. @defaultValue 30 000 */
  readonly executionBudgetMs?: number
  /** How long one settlement may take, in milliseconds. @defaultValue 5000 */
  readonly settlementBudgetMs?: number
  /** Pause before a lost subscription is made again, in milliseconds. @defaultValue 5000 */
  readonly retryPollIntervalMs?: number
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Where measurements go. @defaultValue nowhere */
  readonly telemetry?: Telemetry
  /** Time. @defaultValue the clock of the machine */
  readonly clock?: Clock
  /** Uniform in [0, 1). @defaultValue Math.random */
  readonly random?: () => number
}

/** Batching of accepts. */
export interface IngressBatchOptions {
  /** Whether deliveries are gathered. @defaultValue false */
  readonly enabled: boolean
  /** Deliveries of one statement. @defaultValue 10 */
  readonly size?: number
  /** Longest wait for the batch to fill, in milliseconds. @defaultValue 200 */
  readonly maxWaitMs?: number
}

/** Back-pressure from the inbox. */
export interface IngressBacklogOptions {
  /** Pending rows above which intake pauses. */
  readonly high: number
  /** Pending rows below which it goes on. */
  readonly low: number
  /** Counts pending rows. */
  readonly pendingCount: () => Promise<number>
  /** Interval of the counts in milliseconds. @defaultValue 1000 */
  readonly intervalMs?: number
}

const shape: OptionShape<IngressOptions> = {
  transport: portRules.transport,
  source: 'text',
  inbox: { members: ['accept', 'acceptBatch'] },
  contracts: 'list',
  probe: 'function?',
  requeueOnFailure: 'any?',
  maxMessageBytes: 'any?',
  identity: 'any?',
  requireStableIdentity: 'any?',
  trustApplicationHeaders: 'any?',
  authorizeDelivery: 'function?',
  maxInFlightMessages: 'any?',
  batch: 'object?',
  onDiscard: 'object?',
  pauseAfterConsecutiveDiscards: 'any?',
  backlog: 'object?',
  allowLossyLimit: 'any?',
  holdLimitMs: 'any?',
  requeueBackoff: 'object?',
  executionBudgetMs: 'any?',
  settlementBudgetMs: 'any?',
  retryPollIntervalMs: 'any?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

const batchShape: OptionShape<IngressBatchOptions> = { enabled: 'any?', size: 'any?', maxWaitMs: 'any?' }

const backlogShape: OptionShape<IngressBacklogOptions> = {
  high: 'any?',
  low: 'any?',
  pendingCount: 'function',
  intervalMs: 'any?',
}

const discardShape: OptionShape<NonNullable<IngressOptions['onDiscard']>> = { deadLetter: 'text' }

type Optional = 'probe' | 'authorizeDelivery' | 'onDiscard' | 'backlog' | 'pauseAfterConsecutiveDiscards'

/** Options with every default filled in. */
export type ResolvedIngressOptions = Required<Omit<IngressOptions, Optional | 'batch'>> &
  Pick<IngressOptions, Optional> & { readonly batch: Required<IngressBatchOptions> }

/** How long deliveries are held where the transport does not say how long they may be. */
const defaultHoldMs = 20 * 60_000

/**
 * Fills in the defaults.
 *
 * @throws OptionsError naming every fault.
 */
export function resolveIngressOptions(given: IngressOptions): ResolvedIngressOptions {
  const options = readOptions('ingress', given, { shape })
  const trusted = options.trustApplicationHeaders ?? false
  const resolved: ResolvedIngressOptions = {
    requeueOnFailure: true,
    maxMessageBytes: 4 * 1024 * 1024,
    requireStableIdentity: true,
    maxInFlightMessages: 32,
    allowLossyLimit: false,
    holdLimitMs: options.transport.capabilitiesOf(options.source).maxHoldMs ?? defaultHoldMs,
    requeueBackoff: {},
    executionBudgetMs: 30_000,
    settlementBudgetMs: 5000,
    retryPollIntervalMs: 5000,
    logger: silentLogger,
    telemetry: noTelemetry,
    clock: systemClock,
    random: Math.random,
    ...options,
    trustApplicationHeaders: trusted,
    identity: trusted ? 'message' : (options.identity ?? 'brokerDelivery'),
    batch: {
      enabled: false,
      size: 10,
      maxWaitMs: 200,
      ...definedOptions<Partial<IngressBatchOptions>>(options.batch ?? {}),
    },
  }
  const { batch, backlog, maxInFlightMessages } = resolved
  const checks = checkOptions()
  checks.text('source', resolved.source)
  checks.integer('maxMessageBytes', resolved.maxMessageBytes, { min: 0 })
  checks.integer('maxInFlightMessages', maxInFlightMessages, { min: 1, max: 65_535 })
  checks.integer('batch.size', batch.size, { min: 1, max: 10_000 })
  checks.duration('batch.maxWaitMs', batch.maxWaitMs)
  checks.that(
    !batch.enabled || batch.size <= maxInFlightMessages,
    `expected batch.size of at most maxInFlightMessages (${String(maxInFlightMessages)}), found ${String(batch.size)}: the batch would never fill`,
  )
  checks.that(
    ['brokerDelivery', 'message'].includes(resolved.identity),
    `expected identity to be 'brokerDelivery' or 'message', found ${resolved.identity}`,
  )
  checks.that(
    !trusted || options.identity !== 'brokerDelivery',
    "identity 'brokerDelivery' contradicts trustApplicationHeaders: true, which takes the id of the message",
  )
  checks.that(
    resolved.contracts.length > 0,
    'expected at least one contract, found none: every delivery would be discarded',
  )
  const { contracts: accepted } = resolved.inbox
  for (const { name, version } of accepted === undefined ? [] : resolved.contracts) {
    checks.that(
      accepted?.some((known) => known.name === name && known.version >= version) === true,
      `expected the inbox to accept contract ${name} version ${String(version)} too, found that it does not: every delivery of it would be discarded; give it to createInbox`,
    )
  }
  if (options.onDiscard !== undefined) {
    checks.text('onDiscard.deadLetter', options.onDiscard.deadLetter)
    checks.that(
      options.onDiscard.deadLetter !== resolved.source,
      `expected onDiscard.deadLetter other than the source, found ${resolved.source} for both: dead letters would come back`,
    )
  }
  if (backlog !== undefined) {
    checks.integer('backlog.high', backlog.high, { min: 1 })
    checks.integer('backlog.low', backlog.low, { min: 0, max: backlog.high })
    checks.duration('backlog.intervalMs', backlog.intervalMs ?? 1000, { min: 1 })
  }
  if (options.pauseAfterConsecutiveDiscards !== undefined) {
    checks.integer('pauseAfterConsecutiveDiscards', options.pauseAfterConsecutiveDiscards, { min: 1 })
  }
  if (resolved.holdLimitMs !== Number.POSITIVE_INFINITY) {
    checks.duration('holdLimitMs', resolved.holdLimitMs)
  }
  checks.duration('executionBudgetMs', resolved.executionBudgetMs, { min: 1 })
  checks.duration('settlementBudgetMs', resolved.settlementBudgetMs, { min: 1 })
  checks.duration('retryPollIntervalMs', resolved.retryPollIntervalMs, { min: 1 })
  const faults = [
    ...checks.faults,
    ...lossyLimitFaults(resolved),
    ...backoffFaults('requeueBackoff', resolved.requeueBackoff),
    ...optionFaults('batch.', options.batch ?? { enabled: false }, { shape: batchShape }),
    ...(backlog === undefined ? [] : optionFaults('backlog.', backlog, { shape: backlogShape })),
    ...(options.onDiscard === undefined
      ? []
      : optionFaults('onDiscard.', options.onDiscard, { shape: discardShape })),
  ]
  if (faults.length > 0) throw new OptionsError('ingress', faults)
  return Object.freeze({
    ...resolved,
    logger: isolateLogger(resolved.logger),
    telemetry: isolateTelemetry(resolved.telemetry),
  })
}
