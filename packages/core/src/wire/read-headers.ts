import { FormatError, InboxIngressError } from '../errors/errors.ts'
import type { Mutable } from '../options/mutable.ts'
import type { Visibility } from '../messages/new-message.ts'
import type { TraceContext } from '../messages/trace-context.ts'
import type { HeaderValue, InboundMessage } from '../ports/transport-message.ts'
import { isBrokerHeader, isReservedHeader, legacyHeaders, wireHeaders } from './header-names.ts'
import { readPositiveInteger, readText, textOf } from './header-readers.ts'
import { readTrace } from './trace-header.ts'
import { readVisibility } from './visibility-header.ts'

/** What the headers of a delivery say. */
export interface WireMetadata {
  /** Contract name. */
  readonly contractName: string
  /** Contract version. */
  readonly contractVersion: number
  /** Id in the `litebus-message-id` header; trust decides whether it counts. */
  readonly messageId?: string
  /** Correlation id. */
  readonly correlationId?: string
  /** Causation id. */
  readonly causationId?: string
  /** Tenant; only from trusted publishers. */
  readonly tenantId?: string
  /** Idempotency key; only from trusted publishers. */
  readonly idempotencyKey?: string
  /** Ordering key, from the header or from the key, group or session of the broker. */
  readonly orderingKey?: string
  /** When the message becomes due. */
  readonly visibility?: Visibility
  /** Trace context. */
  readonly trace?: TraceContext
  /** Headers of the application, as text. */
  readonly headers: Readonly<Record<string, string>>
}

/** How headers are read. */
export interface ReadHeadersOptions {
  /** Whether tenant and idempotency key of the publisher count. */
  readonly trustApplicationHeaders: boolean
  /** Wall clock in milliseconds. */
  readonly nowMs: number
}

/** Longest value of an id, key or tenant in characters. */
const maxIdLength = 512

/**
 * Reads the headers of a delivery; bounds are checked before.
 *
 * @throws InboxIngressError when a required header is missing or malformed, or an id is too long. The message names
 * the header, never its value.
 */
export function readHeaders(message: InboundMessage, options: ReadHeadersOptions): WireMetadata {
  try {
    return read(message, options)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    const { message: text, deliveryFault = { part: 'headers' } } = error
    throw new InboxIngressError(text, { cause: error, deliveryFault })
  }
}

function read(message: InboundMessage, options: ReadHeadersOptions): WireMetadata {
  const { headers } = message
  const text = (name: string): string | undefined => {
    const value = readText(headers, name)
    if (value === undefined) return undefined
    if (value.length > maxIdLength || value.includes('\0')) {
      const expected = `at most ${String(maxIdLength)} characters without NUL`
      throw new InboxIngressError(
        `expected ${expected} in header ${name}, found ${String(value.length)} characters`,
        { deliveryFault: { part: 'headers', header: name, expected, found: value.length } },
      )
    }
    return value
  }
  const contractName = required(text(wireHeaders.contractName), wireHeaders.contractName)
  const version = readPositiveInteger(headers, wireHeaders.contractVersion)
  const contractVersion = required(version, wireHeaders.contractVersion)
  const messageId = text(wireHeaders.messageId)
  const correlationId = text(wireHeaders.correlationId) ?? text(legacyHeaders.correlationId)
  const causationId = text(wireHeaders.causationId)
  const orderingKey = text(wireHeaders.orderingKey) ?? message.orderingKey
  const visibility = readVisibility(headers, options.nowMs)
  const trace = readTrace(headers)
  const metadata: Mutable<WireMetadata> = {
    contractName,
    contractVersion,
    headers: applicationHeaders(message),
  }
  if (messageId !== undefined) metadata.messageId = messageId
  if (correlationId !== undefined) metadata.correlationId = correlationId
  if (causationId !== undefined) metadata.causationId = causationId
  if (orderingKey !== undefined) metadata.orderingKey = orderingKey
  if (visibility !== undefined) metadata.visibility = visibility
  if (trace !== undefined) metadata.trace = trace
  return options.trustApplicationHeaders ? withTrusted(metadata, text) : metadata
}

/** What only counts from publishers that are trusted. */
function withTrusted(
  metadata: Mutable<WireMetadata>,
  text: (name: string) => string | undefined,
): WireMetadata {
  const tenantId = text(wireHeaders.tenantId)
  const idempotencyKey = text(wireHeaders.idempotencyKey)
  if (tenantId !== undefined) metadata.tenantId = tenantId
  if (idempotencyKey !== undefined) metadata.idempotencyKey = idempotencyKey
  return metadata
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) {
    throw new InboxIngressError(
      `expected header ${name}, found none; publish with the LiteBus contract headers`,
      { deliveryFault: { part: 'headers', header: name, expected: 'a value', found: 0 } },
    )
  }
  return value
}

function applicationHeaders({ headers }: InboundMessage): Record<string, string> {
  const result: Record<string, string> = {}
  for (const name in headers) {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (value === undefined || value === null || isReservedHeader(name) || isBrokerHeader(name)) continue
    const text = textOf(value) ?? JSON.stringify(value, jsonValue)
    if (!text.includes('\0')) result[name] = text
  }
  return result
}

/** Tables and lists become JSON; bytes in them base64, integers beyond 2⁵³ text. */
function jsonValue(this: Record<string, HeaderValue>, _name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
