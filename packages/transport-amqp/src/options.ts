import {
  backoffFaults,
  checkOptions,
  definedOptions,
  isolateLogger,
  isolateTelemetry,
  noTelemetry,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type BackoffOptions,
  type Clock,
  type Logger,
  type OptionShape,
  type OutboundMessage,
  type Telemetry,
} from '@litebus/core'
import type { AmqpDriverConnection } from './driver.ts'
import { topologyFaults } from './topology/check-topology.ts'
import type { AmqpTopology } from './topology/topology.ts'

/** Which of the two connections of a transport: a blocked publisher must not stop acknowledgements. */
export type AmqpConnectionRole = 'publish' | 'consume'

/** Properties of AMQP that a message of LiteBus has no place for. */
export interface AmqpPublishProperties {
  /** Priority, 0 to 255, for queues with `maxPriority`. */
  readonly priority?: number
  /** Age in milliseconds at which the broker discards this message. */
  readonly expirationMs?: number
  /** `type` property. */
  readonly type?: string
  /** `app-id` property. */
  readonly appId?: string
  /** `correlation-id` property. */
  readonly correlationId?: string
  /** `reply-to` property. */
  readonly replyTo?: string
  /** Written to disk by the broker. @defaultValue true */
  readonly persistent?: boolean
}

/** Options of {@link amqpTransport}. Exactly one of `url`, `connection` and `connect` says where the broker is. */
export interface AmqpTransportOptions {
  /** `amqp://` or `amqps://` URL with credentials and virtual host. */
  readonly url?: string | undefined
  /** Connection options of amqplib instead of a URL: hostname, port, username, password, vhost, frameMax … */
  readonly connection?: Readonly<Record<string, unknown>>
  /** Socket options of amqplib, passed through untouched: TLS, credentials, noDelay, clientProperties … */
  readonly socketOptions?: Readonly<Record<string, unknown>>
  /** Opens a connection, instead of `url` and `connection`; called again for every reconnect. */
  readonly connect?: (role: AmqpConnectionRole) => Promise<AmqpDriverConnection>
  /** Heartbeat in seconds, unless the URL or the connection options name one. @defaultValue 10 */
  readonly heartbeatSeconds?: number
  /** Longest time for one attempt to connect. @defaultValue 10 000 */
  readonly connectTimeoutMs?: number
  /**
   * Pause between attempts to connect, which never end.
   * @defaultValue `{ initialDelayMs: 100, multiplier: 2, maxDelayMs: 30_000, jitter: 'full' }`
   */
  readonly reconnect?: BackoffOptions
  /** What the broker should hold. @defaultValue nothing is declared or checked */
  readonly topology?: AmqpTopology
  /** Most publishes sent and not confirmed. @defaultValue 1000 */
  readonly publishWindow?: number
  /** Most bytes of bodies sent and not confirmed; one message always fits. @defaultValue 33 554 432 */
  readonly publishWindowBytes?: number
  /** How long a publish may take, waiting for the connection and the window included. @defaultValue 30 000 */
  readonly publishTimeoutMs?: number
  /** Most bytes of one message; larger ones are rejected without being sent. @defaultValue 16 777 216 */
  readonly maxMessageBytes?: number
  /** Further AMQP properties of a publish, such as its priority. @defaultValue none */
  readonly properties?: (message: OutboundMessage) => AmqpPublishProperties
  /** How long a consumer looks for a queue that is gone before it fails. @defaultValue 30 000 */
  readonly missingSourceGraceMs?: number
  /** How long a paused subscription holds what was delivered and not handed out. @defaultValue 1 200 000 */
  readonly pausedHoldMs?: number
  /** Longest time for a clean close of a channel or connection. @defaultValue 5000 */
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

type Defaulted =
  | 'socketOptions'
  | 'heartbeatSeconds'
  | 'connectTimeoutMs'
  | 'reconnect'
  | 'topology'
  | 'publishWindow'
  | 'publishWindowBytes'
  | 'publishTimeoutMs'
  | 'maxMessageBytes'
  | 'properties'
  | 'missingSourceGraceMs'
  | 'pausedHoldMs'
  | 'closeTimeoutMs'
  | 'logger'
  | 'telemetry'
  | 'clock'
  | 'random'

/** Options with their defaults filled in. */
export type ResolvedAmqpOptions = Omit<AmqpTransportOptions, Defaulted> &
  Required<Pick<AmqpTransportOptions, Defaulted>>

/** Defaults of {@link AmqpTransportOptions}. */
export const amqpTransportDefaults: Required<Pick<AmqpTransportOptions, Defaulted>> = Object.freeze({
  socketOptions: Object.freeze({}),
  heartbeatSeconds: 10,
  connectTimeoutMs: 10_000,
  reconnect: Object.freeze({ initialDelayMs: 100, multiplier: 2, maxDelayMs: 30_000, jitter: 'full' }),
  topology: Object.freeze({}),
  publishWindow: 1000,
  publishWindowBytes: 32 * 1024 * 1024,
  publishTimeoutMs: 30_000,
  maxMessageBytes: 16 * 1024 * 1024,
  properties: () => ({}),
  missingSourceGraceMs: 30_000,
  pausedHoldMs: 20 * 60_000,
  closeTimeoutMs: 5000,
  logger: silentLogger,
  telemetry: noTelemetry,
  clock: systemClock,
  random: () => Math.random(),
})

const shape: OptionShape<AmqpTransportOptions> = {
  url: 'text?',
  connection: 'object?',
  socketOptions: 'object?',
  connect: 'function?',
  heartbeatSeconds: 'any?',
  connectTimeoutMs: 'any?',
  reconnect: 'object?',
  topology: 'object?',
  publishWindow: 'any?',
  publishWindowBytes: 'any?',
  publishTimeoutMs: 'any?',
  maxMessageBytes: 'any?',
  properties: 'function?',
  missingSourceGraceMs: 'any?',
  pausedHoldMs: 'any?',
  closeTimeoutMs: 'any?',
  logger: portRules.logger,
  telemetry: portRules.telemetry,
  clock: portRules.clock,
  random: portRules.random,
}

/** Fills in the defaults and reports every fault at once; no fault quotes a URL. */
export function resolveAmqpOptions(given: AmqpTransportOptions): ResolvedAmqpOptions {
  const options = readOptions('amqpTransport', given, { shape })
  const resolved: ResolvedAmqpOptions = { ...amqpTransportDefaults, ...options }
  const checks = checkOptions()
  const targets = [resolved.url, resolved.connection, resolved.connect].filter((way) => way !== undefined)
  checks.that(
    targets.length === 1,
    `expected exactly one of url, connection and connect, found ${String(targets.length)}`,
  )
  checks.that(
    resolved.url === undefined || isAmqpUrl(resolved.url),
    'expected url to be an amqp:// or amqps:// URL',
  )
  checks.integer('heartbeatSeconds', resolved.heartbeatSeconds, { min: 0, max: 65_535 })
  checks.duration('connectTimeoutMs', resolved.connectTimeoutMs, { min: 1 })
  checks.integer('publishWindow', resolved.publishWindow, { min: 1 })
  checks.integer('publishWindowBytes', resolved.publishWindowBytes, { min: 1 })
  checks.duration('publishTimeoutMs', resolved.publishTimeoutMs, { min: 1 })
  checks.integer('maxMessageBytes', resolved.maxMessageBytes, { min: 1 })
  checks.duration('missingSourceGraceMs', resolved.missingSourceGraceMs)
  checks.duration('pausedHoldMs', resolved.pausedHoldMs)
  checks.duration('closeTimeoutMs', resolved.closeTimeoutMs, { min: 1 })
  const faults = [
    ...checks.faults,
    ...backoffFaults('reconnect', resolved.reconnect),
    ...topologyFaults(resolved.topology),
  ]
  if (faults.length > 0) throw new OptionsError('amqpTransport', faults)
  return {
    ...resolved,
    logger: isolateLogger(resolved.logger),
    telemetry: isolateTelemetry(resolved.telemetry),
    reconnect: { ...amqpTransportDefaults.reconnect, ...definedOptions(resolved.reconnect) },
  }
}

function isAmqpUrl(text: string): boolean {
  return URL.canParse(text) && ['amqp:', 'amqps:'].includes(new URL(text).protocol)
}
