import type { Headers, HeaderValue, OutboundMessage } from '@litebus/core'
import type { AmqpDriverMessage } from './driver.ts'

/** Longest short string of the protocol: header names, ids, routing keys. */
const maxShortStringBytes = 255
/**
 * Most bytes of an encoded header table. The client encodes it into 64 KiB; older versions of it cut longer tables
 * off, and the broker closes the connection.
 */
const maxHeaderTableBytes = 60_000
/** Headers that the broker reads as lists: text in them closes the channel. */
const brokerHeaders: ReadonlySet<string> = new Set(['CC', 'BCC', 'x-death'])

/** Bytes of body and headers. */
export function messageBytes({ body, headers }: OutboundMessage): number {
  return body.byteLength + headerTableBytes(headers)
}

/** Bytes of the encoded table; values are checked to be text before. */
function headerTableBytes(headers: OutboundMessage['headers']): number {
  let bytes = 4
  for (const [name, value] of Object.entries(headers)) {
    bytes += 6 + Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  return bytes
}

/** True when the protocol can carry the ids and headers of a message without closing a channel. */
export function headersAreCarried(message: OutboundMessage): boolean {
  const short = [message.destination, message.messageId, message.routingKey, message.contentType]
  return (
    short.every((text) => text === undefined || isShortString(text)) &&
    Object.entries(message.headers).every(
      ([name, value]: readonly [string, unknown]) =>
        name !== '' && isShortString(name) && typeof value === 'string' && !brokerHeaders.has(name),
    ) &&
    headerTableBytes(message.headers) <= maxHeaderTableBytes
  )
}

function isShortString(text: unknown): boolean {
  return typeof text === 'string' && Buffer.byteLength(text) <= maxShortStringBytes
}

/** Deepest nesting of tables and lists that is read; what is deeper becomes null. */
const maxDepth = 16

/** Header table of any publisher: every type of the protocol becomes a header value, nothing throws. */
export function readHeaders(message: AmqpDriverMessage): Headers {
  const table = message.properties.headers ?? {}
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, readValue(value, 1)]))
}

function readValue(value: unknown, depth: number): HeaderValue {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    case 'object':
      return value === null || depth > maxDepth ? null : readObject(value, depth)
    default:
      return null
  }
}

function readObject(value: object, depth: number): HeaderValue {
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map((item: unknown) => readValue(item, depth + 1))
  // The client marks the types that JavaScript does not have: { '!': 'timestamp', value }.
  const { '!': type, value: inner } = value as { readonly '!'?: unknown; readonly value?: unknown }
  if (type === 'timestamp') return readTimestamp(inner) ?? null
  if (type === 'decimal') return readDecimal(inner)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, readValue(item, depth + 1)]))
}

/** Seconds since the epoch; undefined where they are no date. */
export function readTimestamp(value: unknown): Date | undefined {
  if (typeof value !== 'number') return undefined
  const date = new Date(value * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date
}

function readDecimal(value: unknown): HeaderValue {
  const { places, digits } = (value ?? {}) as { readonly places?: unknown; readonly digits?: unknown }
  return typeof places === 'number' && typeof digits === 'number' ? digits / 10 ** places : null
}
