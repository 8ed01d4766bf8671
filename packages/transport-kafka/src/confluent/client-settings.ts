import type { Logger } from '@litebus/core'
import type { ResolvedKafkaOptions } from '../options.ts'

/** Options of this client, in the form in which it takes them. */
export type ClientSettings = Record<string, unknown>

/** Names of its codecs, by the number that they have in KafkaJS and in the protocol. */
const codecs: readonly string[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** Room for what the client counts beside the parts of a record. */
const slackBytes = 65_536

/** The numbers of its log levels. */
const warnings = 2

/** What a client may be given in `producerOptions` and `consumerOptions`: its own names, and a block of KafkaJS's. */
function split(given: Readonly<Record<string, unknown>>): {
  readonly own: ClientSettings
  readonly block: ClientSettings
} {
  const { kafkaJS: block, ...own } = given
  return { own, block: (block ?? {}) as ClientSettings }
}

/** What every client is made with. */
function common({ reconnect }: ResolvedKafkaOptions): ClientSettings {
  const { initialDelayMs, maxDelayMs } = reconnect
  return {
    'socket.nagle.disable': true,
    'reconnect.backoff.ms': Math.min(initialDelayMs ?? 100, maxDelayMs ?? 30_000),
    'reconnect.backoff.max.ms': maxDelayMs ?? 30_000,
  }
}

/** A producer that repeats its requests itself, in order, and gives up altogether where a gap would be left. */
export function producerSettings(options: ResolvedKafkaOptions, logger: object): ClientSettings {
  const { own, block } = split(options.producerOptions)
  const { compression, publishTimeoutMs, maxMessageBytes, maxBatchMessages } = options
  return {
    ...common(options),
    'message.max.bytes': Math.min(maxMessageBytes + slackBytes, 1_000_000_000),
    'batch.size': maxMessageBytes + slackBytes,
    'batch.num.messages': Math.min(maxBatchMessages, 1_000_000),
    'queue.buffering.max.messages': 0,
    'queue.buffering.max.kbytes': 2_097_151,
    'request.timeout.ms': Math.min(publishTimeoutMs, 900_000),
    // After the publish has been answered: of one key, nothing may be left out of what waits in the client.
    'message.timeout.ms': Math.min(publishTimeoutMs * 2, 2_147_483_647),
    retries: 2_147_483_647,
    ...(compression === undefined ? {} : { 'compression.codec': codecs[compression] ?? compression }),
    ...own,
    'enable.idempotence': true,
    'enable.gapless.guarantee': true,
    acks: -1,
    kafkaJS: { allowAutoTopicCreation: false, ...logging(logger), ...block },
  }
}

/** A consumer that commits nothing by itself. */
export function consumerSettings(
  options: ResolvedKafkaOptions,
  group: string,
  logger: object,
): ClientSettings {
  const { own, block } = split(options.consumerOptions)
  const { sessionTimeoutMs, heartbeatIntervalMs, fetchMaxWaitMs } = options
  // In the newer protocol of groups the broker says how long a member may be silent.
  const isClassic = (own['group.protocol'] ?? 'classic') === 'classic'
  return {
    ...common(options),
    'js.consumer.max.batch.size': 500,
    'js.consumer.max.cache.size.per.worker.ms': 250,
    'queued.max.messages.kbytes': 8192,
    'fetch.queue.backoff.ms': 20,
    // Where a lost connection is found.
    'statistics.interval.ms': 500,
    ...own,
    'enable.auto.commit': false,
    kafkaJS: {
      allowAutoTopicCreation: false,
      fromBeginning: true,
      maxWaitTimeInMs: fetchMaxWaitMs,
      ...(isClassic ? { sessionTimeout: sessionTimeoutMs, heartbeatInterval: heartbeatIntervalMs } : {}),
      ...logging(logger),
      ...block,
      groupId: group,
      autoCommit: false,
    },
  }
}

/** An administrator. */
export function adminSettings(options: ResolvedKafkaOptions, logger: object): ClientSettings {
  return { ...common(options), kafkaJS: logging(logger) }
}

function logging(logger: object): ClientSettings {
  return { logLevel: warnings, logger }
}

/** A logger in the form of this client: what it says is detail, the adapter says itself what matters. */
export function clientLogger(logger: Logger, onError: (line: string) => void = () => undefined): object {
  const say = (line: unknown): void => {
    logger.debug('the Kafka client says', { line: String(line) })
  }
  const made = {
    debug: () => undefined,
    info: () => undefined,
    warn: say,
    error(line: unknown) {
      say(line)
      onError(String(line))
    },
    setLogLevel: () => undefined,
    namespace: (): object => made,
  }
  return made
}
