import {
  backoffFaults,
  checkOptions,
  noTelemetry,
  isolateLogger,
  isolateTelemetry,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type BackoffOptions,
  type Clock,
  type Logger,
  type OptionShape,
  type Telemetry,
} from '@litebus/core'
import type { ConfluentClient } from './confluent/confluent-client.ts'
import type { KafkaJsClient } from './kafkajs/client-shape.ts'

/** Options of {@link kafkaTransport}. Exactly one of `brokers` and `client` says where Kafka is. */
export interface KafkaTransportOptions {
  /** Addresses to start from: `['host:9092', …]`, or one text with commas between them. */
  readonly brokers?: readonly string[] | string | undefined
  /** Client options of KafkaJS, passed through untouched: `clientId`, `ssl`, `sasl`, `socketFactory` … @defaultValue none */
  readonly clientOptions?: Readonly<Record<string, unknown>>
  /** A client of one's own instead: of KafkaJS, or what `confluentClient` makes of one of Confluent's. */
  readonly client?: KafkaJsClient | ConfluentClient
  /**
   * Consumer group, the same for every instance of a service. Members of a group consume the same topic: a transport
   * that consumes several topics needs a function of the topic. Required to subscribe.
   */
  readonly groupId?: string | ((source: string) => string)
  /**
   * What to do where the committed offset of a group is not in the log any more: `fail` ends the subscription aloud,
   * `earliest` goes on at the first record that is left, and says so as an error. @defaultValue 'fail'
   */
  readonly onOffsetOutOfRange?: 'fail' | 'earliest'
  /** Least time between two commits, in milliseconds. @defaultValue 50 */
  readonly commitIntervalMs?: number
  /** Settled records after which a commit does not wait for that time. @defaultValue 500 */
  readonly commitCount?: number
  /** How long the broker waits for records before it answers a fetch, in milliseconds. @defaultValue 250 */
  readonly fetchMaxWaitMs?: number
  /** Time without a heartbeat after which the group gives the partitions of a member away. @defaultValue 30 000 */
  readonly sessionTimeoutMs?: number
  /** Time between heartbeats, whatever handlers do. @defaultValue 3000 */
  readonly heartbeatIntervalMs?: number
  /** Further options of the consumer, passed through to the client: `partitionAssigners`, `rackId` … @defaultValue none */
  readonly consumerOptions?: Readonly<Record<string, unknown>>
  /** Further options of the producer, passed through to the client. @defaultValue none */
  readonly producerOptions?: Readonly<Record<string, unknown>>
  /** Number of the compression codec, as in `CompressionTypes` of KafkaJS. @defaultValue no compression */
  readonly compression?: number
  /**
   * Most bytes of one message with its headers, and of what one request carries for one partition: the
   * `max.message.bytes` of the topics, less some room. Larger ones are rejected without being sent. @defaultValue 1 000 000
   */
  readonly maxMessageBytes?: number
  /** Most messages of one request. @defaultValue 10 000 */
  readonly maxBatchMessages?: number
  /** How long a publish may take, waiting for connection and turn included. @defaultValue 30 000 */
  readonly publishTimeoutMs?: number
  /** How long partitions and leaders of a topic are remembered, in milliseconds. @defaultValue 60 000 */
  readonly metadataMaxAgeMs?: number
  /** Longest time for one attempt to connect. @defaultValue 10 000 */
  readonly connectTimeoutMs?: number
  /** Longest time for joining a group, until the first assignment. @defaultValue 60 000 */
  readonly joinTimeoutMs?: number
  /**
   * Pause between attempts to join again, which never end.
   * @defaultValue `{ initialDelayMs: 100, multiplier: 2, maxDelayMs: 30_000, jitter: 'full' }`
   */
  readonly reconnect?: BackoffOptions
  /** How long a consumer looks for a topic that is gone before it fails. @defaultValue 30 000 */
  readonly missingSourceGraceMs?: number
  /** Longest time for a clean close. @defaultValue 5000 */
  readonly closeTimeoutMs?: number
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
  /** Where measurements go. @defaultValue nowhere */
  readonly telemetry?: Telemetry
  /** Time. @defaultValue the system clock */
  readonly clock?: Clock
  /** Uniform in [0, 1), for jitter. @defaultValue Math.random */
  readonly random?: () => number
}

type Optional = 'client' | 'groupId' | 'compression' | 'brokers'

/** Options with their defaults filled in. */
export type ResolvedKafkaOptions = Required<Omit<KafkaTransportOptions, Optional>> &
  Pick<KafkaTransportOptions, Exclude<Optional, 'brokers'>> & {
    /** Addresses; none with a client of one's own. */
    readonly brokers: readonly string[]
  }

/** Defaults of {@link KafkaTransportOptions}. */
export const kafkaTransportDefaults: Required<Omit<KafkaTransportOptions, Optional>> = Object.freeze({
  clientOptions: Object.freeze({}),
  onOffsetOutOfRange: 'fail',
  commitIntervalMs: 50,
  commitCount: 500,
  fetchMaxWaitMs: 250,
  sessionTimeoutMs: 30_000,
  heartbeatIntervalMs: 3000,
  consumerOptions: Object.freeze({}),
  producerOptions: Object.freeze({}),
  maxMessageBytes: 1_000_000,
  maxBatchMessages: 10_000,
  publishTimeoutMs: 30_000,
  metadataMaxAgeMs: 60_000,
  connectTimeoutMs: 10_000,
  joinTimeoutMs: 60_000,
  reconnect: Object.freeze({ initialDelayMs: 100, multiplier: 2, maxDelayMs: 30_000, jitter: 'full' }),
  missingSourceGraceMs: 30_000,
  closeTimeoutMs: 5000,
  logger: silentLogger,
  telemetry: noTelemetry,
  clock: systemClock,
  random: () => Math.random(),
})

const kafkaShape: OptionShape<KafkaTransportOptions> = {
  brokers: 'any?',
  clientOptions: 'object?',
  client: 'object?',
  groupId: 'any?',
  onOffsetOutOfRange: 'any?',
  commitIntervalMs: 'any?',
  commitCount: 'any?',
  fetchMaxWaitMs: 'any?',
  sessionTimeoutMs: 'any?',
  heartbeatIntervalMs: 'any?',
  consumerOptions: 'object?',
  producerOptions: 'object?',
  compression: 'any?',
  maxMessageBytes: 'any?',
  maxBatchMessages: 'any?',
  publishTimeoutMs: 'any?',
  metadataMaxAgeMs: 'any?',
  connectTimeoutMs: 'any?',
  joinTimeoutMs: 'any?',
  reconnect: 'object?',
  missingSourceGraceMs: 'any?',
  closeTimeoutMs: 'any?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

/** Fills in the defaults and reports every fault at once; no fault quotes client options. */
export function resolveKafkaOptions(options: KafkaTransportOptions): ResolvedKafkaOptions {
  const given = readOptions('kafkaTransport', options, { shape: kafkaShape })
  const resolved: ResolvedKafkaOptions = {
    ...kafkaTransportDefaults,
    ...given,
    brokers: brokerList(given.brokers),
  }
  const checks = checkOptions()
  const ways = [given.brokers, given.client].filter((way) => way !== undefined)
  checks.that(ways.length === 1, `expected exactly one of brokers and client, found ${String(ways.length)}`)
  checks.that(
    given.brokers === undefined || (resolved.brokers.length > 0 && resolved.brokers.every(isAddress)),
    'expected brokers to be addresses like host:9092',
  )
  checks.that(
    resolved.groupId === undefined ||
      typeof resolved.groupId === 'function' ||
      resolved.groupId.trim() !== '',
    'expected groupId to be a text that is not blank, or a function of the topic',
  )
  checks.that(
    ['fail', 'earliest'].includes(resolved.onOffsetOutOfRange),
    `expected onOffsetOutOfRange to be 'fail' or 'earliest', found ${resolved.onOffsetOutOfRange}`,
  )
  checks.duration('commitIntervalMs', resolved.commitIntervalMs)
  checks.integer('commitCount', resolved.commitCount, { min: 1 })
  checks.duration('fetchMaxWaitMs', resolved.fetchMaxWaitMs, { min: 1 })
  checks.duration('sessionTimeoutMs', resolved.sessionTimeoutMs, { min: 1 })
  checks.duration('heartbeatIntervalMs', resolved.heartbeatIntervalMs, { min: 1 })
  checks.that(
    resolved.heartbeatIntervalMs * 2 <= resolved.sessionTimeoutMs,
    'expected heartbeatIntervalMs to be at most half of sessionTimeoutMs',
  )
  checks.integer('maxMessageBytes', resolved.maxMessageBytes, { min: 1 })
  checks.integer('maxBatchMessages', resolved.maxBatchMessages, { min: 1 })
  checks.duration('publishTimeoutMs', resolved.publishTimeoutMs, { min: 1 })
  checks.duration('metadataMaxAgeMs', resolved.metadataMaxAgeMs)
  checks.duration('connectTimeoutMs', resolved.connectTimeoutMs, { min: 1 })
  checks.duration('joinTimeoutMs', resolved.joinTimeoutMs, { min: 1 })
  checks.duration('missingSourceGraceMs', resolved.missingSourceGraceMs)
  checks.duration('closeTimeoutMs', resolved.closeTimeoutMs, { min: 1 })
  const faults = [...checks.faults, ...backoffFaults('reconnect', resolved.reconnect)]
  if (faults.length > 0) throw new OptionsError('kafkaTransport', faults)
  return {
    ...resolved,
    reconnect: { ...kafkaTransportDefaults.reconnect, ...resolved.reconnect },
    logger: isolateLogger(resolved.logger),
    telemetry: isolateTelemetry(resolved.telemetry),
  }
}

function brokerList(brokers: KafkaTransportOptions['brokers']): readonly string[] {
  if (brokers === undefined) return []
  const list: readonly unknown[] = typeof brokers === 'string' ? brokers.split(',') : [brokers].flat()
  return list.map((address) => (typeof address === 'string' ? address.trim() : ''))
}

function isAddress(address: string): boolean {
  return /^[^\s@/]+:\d{1,5}$/u.test(address)
}
