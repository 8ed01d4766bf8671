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

/** Most bytes that a character of UTF-16 takes in UTF-8: short texts are known to fit without encoding them. */
const maxBytesPerCharacter = 3

/**
 * Bytes of body and headers; undefined where the protocol cannot carry ids or headers without closing a channel. An
 * upper bound is enough far below the limits.
 */
export function carriedBytes(message: OutboundMessage): number | undefined {
  const { destination, messageId, routingKey = '', contentType = '', headers, body } = message
  const areShort =
    isShortString(destination) &&
    isShortString(messageId) &&
    isShortString(routingKey) &&
    isShortString(contentType)
  if (!areShort) return undefined
  let characters = 0
  let count = 0
  for (const name of Object.keys(headers)) {
    const value: unknown = headers[name]
    if (name === '' || !isShortString(name) || typeof value !== 'string' || brokerHeaders.has(name)) {
      return undefined
    }
    characters += name.length + value.length
    count += 1
  }
  const most = 4 + 6 * count + characters * maxBytesPerCharacter
  const bytes = most <= roughlyMeasuredBytes ? most : headerTableBytes(headers)
  return bytes > maxHeaderTableBytes ? undefined : body.byteLength + bytes
}

/** Header tables up to this are not measured exactly: it is nothing against the size that a message may have. */
const roughlyMeasuredBytes = 1024

/** Bytes of the encoded table; values are checked to be text before. */
function headerTableBytes(headers: OutboundMessage['headers']): number {
  let bytes = 4
  for (const [name, value] of Object.entries(headers)) {
    bytes += 6 + Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  return bytes
}

/** Of text that is not well-formed another one would arrive, and a return of it could not be told from others. */
function isShortString(text: unknown): boolean {
  if (typeof text !== 'string' || !text.isWellFormed()) return false
  return (
    text.length * maxBytesPerCharacter <= maxShortStringBytes ||
    Buffer.byteLength(text) <= maxShortStringBytes
  )
}

/** Deepest nesting of tables and lists that is read; what is deeper becomes null. */
const maxDepth = 16

/** Header table of any publisher: every type of the protocol becomes a header value, nothing throws. */
export function readHeaders(message: AmqpDriverMessage): Headers {
  const table = message.properties.headers ?? {}
  return Object.fromEntries(Object.keys(table).map((name) => [name, readValue(table[name], 1)]))
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
