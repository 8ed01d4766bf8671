import { textOf, wireHeaders, type Headers, type HeaderValue, type OutboundMessage } from '@litebus/core'
import type { FetchedRecord } from './driver.ts'

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
  return (
    [messageId, contentType].every((text) => text === undefined || isText(text)) &&
    Object.entries(headers).every(
      ([name, value]) =>
        name !== '' && isText(value) && isText(name) && Buffer.byteLength(name) <= maxNameBytes,
    )
  )
}

/** Half a surrogate pair has no bytes in UTF-8. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed()
}

/** Headers of a record. */
export function writeRecordHeaders(message: OutboundMessage): Readonly<Record<string, Uint8Array>> {
  const { headers, messageId, contentType = 'application/json' } = message
  const all: Record<string, string> = { [carried.contentType]: contentType, ...headers }
  if (headers[wireHeaders.messageId] !== messageId) all[carried.messageId] = messageId
  Reflect.deleteProperty(all, tombstoneHeader)
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, Buffer.from(value)]))
}

/** Bytes of a record with these parts, before compression. */
export function recordBytes(record: {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: Readonly<Record<string, Uint8Array>>
}): number {
  let bytes = recordOverheadBytes + (record.key?.byteLength ?? 0) + (record.value?.byteLength ?? 0)
  for (const [name, value] of Object.entries(record.headers))
    bytes += headerOverheadBytes + Buffer.byteLength(name) + value.byteLength
  return bytes
}

/** What the headers of a record say; total, whatever a producer wrote. */
export function readRecordHeaders({ headers, value }: Pick<FetchedRecord, 'headers' | 'value'>): {
  readonly headers: Headers
  readonly messageId?: string
  readonly contentType?: string
} {
  const read: Record<string, HeaderValue> = {}
  for (const [name, header] of Object.entries(headers)) read[name] = header
  if (value === null) read[tombstoneHeader] = 'true'
  const messageId = lastText(headers[carried.messageId]) ?? lastText(headers[wireHeaders.messageId])
  const contentType = lastText(headers[carried.contentType])
  // They are properties of the message, and must not be counted as headers of the application.
  Reflect.deleteProperty(read, carried.messageId)
  Reflect.deleteProperty(read, carried.contentType)
  return {
    headers: read,
    ...(messageId === undefined ? {} : { messageId }),
    ...(contentType === undefined ? {} : { contentType }),
  }
}

/** Of several headers of one name the last one counts, as in other clients. */
function lastText(header: FetchedRecord['headers'][string] | undefined): string | undefined {
  const last =
    header === null || header === undefined || header instanceof Uint8Array ? header : header.at(-1)
  const text = last === undefined ? undefined : textOf(last)
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
