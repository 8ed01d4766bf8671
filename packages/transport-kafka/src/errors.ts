import { TopologyMismatchError, TransportClosedError, TransportUnavailableError } from '@litebus/core'
import type { ResolvedKafkaOptions } from './options.ts'

const credentialsInUrl = /\/\/[^/@\s]*@/gu

/** Text of an error of the client or the broker without credentials. */
export function safeText(error: unknown, options: Pick<ResolvedKafkaOptions, 'clientOptions'>): string {
  const text = error instanceof Error ? error.message : String(error)
  const { sasl } = options.clientOptions as { readonly sasl?: Readonly<Record<string, unknown>> }
  return Object.values(sasl ?? {})
    .filter((secret) => typeof secret === 'string' && secret !== '' && secret !== sasl?.['mechanism'])
    .reduce<string>(
      (safe, secret) => safe.replaceAll(String(secret), '***'),
      text === '' ? 'no reason given' : text.replaceAll(credentialsInUrl, '//***@'),
    )
}

/** Kafka cannot be used now. */
export function unavailable(what: string, reason: string, cause?: unknown): TransportUnavailableError {
  return new TransportUnavailableError(`${what}: ${reason}`, cause === undefined ? {} : { cause })
}

/** The transport was closed. */
export function closedTransport(): TransportClosedError {
  return new TransportClosedError('the Kafka transport was closed by its owner')
}

/** The topic does not exist. */
export function missingTopic(topic: string): TopologyMismatchError {
  return new TopologyMismatchError(
    `expected a topic named ${topic}, found none; create it before it is used (topics are not created by clients here)`,
  )
}

/** Records between the committed offset and the log are gone. */
export function offsetOutOfRange(where: {
  readonly topic: string
  readonly group: string
  readonly partition: number
  readonly expected: bigint
  readonly first: bigint
  readonly end: bigint
}): TopologyMismatchError {
  const { topic, group, partition, expected, first, end } = where
  return new TopologyMismatchError(
    `expected partition ${String(partition)} of ${topic} to hold offset ${String(expected)}, where group ${group} goes on, ` +
      `found ${String(first)} to ${String(end)}: records were deleted before they were handled, or the topic was made anew; ` +
      `set the offsets of the group, or onOffsetOutOfRange: 'earliest' to go on with what is left`,
  )
}
