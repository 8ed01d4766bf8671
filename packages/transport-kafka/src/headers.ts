import {
  textOf,
  wireHeaders,
  type HeaderValue,
  type InboundMessage,
  type Mutable,
  type OutboundMessage,
} from '@litebus/core'
import type { FetchedHeader, FetchedRecord } from './driver.ts'

/** What a message has beside its headers, and Kafka has no place for: carried in headers of its own. */
const carried = { messageId: 'message-id', contentType: 'content-type' } as const

/**
 * Header of a record without a value, which is a tombstone in a compacted topic: its body is empty, and so is that of a
 * record with an empty value. A message that is published with it and an empty body becomes a tombstone.
 */
export const tombstoneHeader = 'kafka-tombstone'

/** As long as anything that reads it can take. */
const maxNameBytes = 255
/** Room for what a record has around its parts. */
const recordOverheadBytes = 64
const headerOverheadBytes = 8
const binaryKey = 'kafka-key:base64:'

/** True when every header can be carried, and read again. */
export function headersAreCarried({ headers, messageId, contentType }: OutboundMessage): boolean {
  if (!isText(messageId) || !(contentType === undefined || isText(contentType))) return false
  for (const name of Object.keys(headers)) if (!isName(name) || !isText(headers[name])) return false
  return true
}

function isName(name: string): boolean {
  // No character has more than three bytes for each of its units.
  const fits = name.length * 3 <= maxNameBytes || Buffer.byteLength(name) <= maxNameBytes
  return name !== '' && fits && isText(name)
}

/** Half a surrogate pair has no bytes in UTF-8. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed()
}

/** Headers of a record. */
export function writeRecordHeaders(message: OutboundMessage): Readonly<Record<string, string>> {
  const { headers, messageId, contentType = 'application/json' } = message
  const all: Record<string, string> = { [carried.contentType]: contentType }
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (name !== tombstoneHeader && value !== undefined) setOwn(all, name, value)
  }
  if (headers[wireHeaders.messageId] !== messageId) all[carried.messageId] = messageId
  return all
}

/** Bytes of a record with these parts, before compression. */
export function recordBytes(record: {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: Readonly<Record<string, string>>
}): number {
  const { key, value, headers } = record
  let bytes = recordOverheadBytes + (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
  for (const name of Object.keys(headers))
    bytes += headerOverheadBytes + Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? '')
  return bytes
}

type ReadRecordHeaders = Pick<InboundMessage, 'headers' | 'messageId' | 'contentType'>

/** What the headers of a record say; total, whatever a producer wrote. */
export function readRecordHeaders({
  headers,
  value,
}: Pick<FetchedRecord, 'headers' | 'value'>): ReadRecordHeaders {
  const read: Record<string, HeaderValue> = {}
  for (const name in headers) {
    const header = Object.hasOwn(headers, name) ? headers[name] : undefined
    // What is carried beside the headers is a property of the message, and no header of the application.
    if (header === undefined || name === carried.messageId || name === carried.contentType) continue
    setOwn(read, name, isList(header) ? header.map(bytesOf) : bytesOf(header))
  }
  if (value === null) read[tombstoneHeader] = 'true'
  const messageId = lastText(headers[carried.messageId]) ?? lastText(headers[wireHeaders.messageId])
  const contentType = lastText(headers[carried.contentType])
  const result: Mutable<ReadRecordHeaders> = { headers: read }
  if (messageId !== undefined) result.messageId = messageId
  if (contentType !== undefined) result.contentType = contentType
  return result
}

/** One name means something else to an object when it is assigned to. */
function setOwn<T>(target: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}

function isList(header: FetchedHeader | readonly FetchedHeader[]): header is readonly FetchedHeader[] {
  return Array.isArray(header)
}

function bytesOf(header: FetchedHeader): Uint8Array | null {
  return typeof header === 'string' ? Buffer.from(header) : header
}

/** Of several headers of one name the last one counts, as in other clients. */
function lastText(header: FetchedRecord['headers'][string]): string | undefined {
  if (header === undefined) return undefined
  const last = isList(header) ? header.at(-1) : header
  const text = last === undefined || last === null ? undefined : textOf(last)
  return text === '' ? undefined : text
}

/** Key of a record: the ordering key, in UTF-8. */
export function writeKey(orderingKey: string | undefined): Uint8Array | null {
  if (orderingKey === undefined) return null
  if (orderingKey.startsWith(binaryKey)) return Buffer.from(orderingKey.slice(binaryKey.length), 'base64')
  return Buffer.from(orderingKey)
}

/** Ordering key of a record; a key that is not text becomes a text that {@link writeKey} turns into the same bytes. */
export function readKey(key: Uint8Array | null): string | undefined {
  if (key === null || key.byteLength === 0) return undefined
  const text = textOf(key)
  return text?.includes('\0') === false ? text : `${binaryKey}${Buffer.from(key).toString('base64')}`
}
