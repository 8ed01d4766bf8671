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
const headerOverheadBytes = 8
const binaryKey = 'kafka-key:base64:'

/** Headers of a record, with the bytes that they have in it before compression. */
interface WrittenHeaders {
  /** Text by name. */
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of all of them. */
  readonly bytes: number
}

/** Writes the headers of a message; undefined where one of them could not be carried, or not be read again. */
type WriteRecordHeaders = (message: OutboundMessage) => WrittenHeaders | undefined

/** So many names are looked at once; services have a few. */
const rememberedNames = 1000

/** Remembers what it has found out about names, which are the same in nearly all messages. */
export function createHeaderWriter(): WriteRecordHeaders {
  const bytesOfNames = new Map<string, number>()
  const bytesOf = (name: string): number | undefined => {
    const known = bytesOfNames.get(name)
    if (known !== undefined) return known
    if (!isName(name)) return undefined
    const bytes = headerOverheadBytes + Buffer.byteLength(name)
    if (bytesOfNames.size < rememberedNames) bytesOfNames.set(name, bytes)
    return bytes
  }
  return (message) => {
    const { headers: given, messageId, contentType = 'application/json' } = message
    const headers: Record<string, string> = {}
    let bytes = 0
    const add = (name: string, value: unknown): boolean => {
      const nameBytes = bytesOf(name)
      if (nameBytes === undefined || !isText(value)) return false
      setOwn(headers, name, value)
      bytes += nameBytes + Buffer.byteLength(value)
      return true
    }
    if (!Object.hasOwn(given, carried.contentType) && !add(carried.contentType, contentType)) return undefined
    const carriesId = given[wireHeaders.messageId] !== messageId
    if (carriesId && !add(carried.messageId, messageId)) return undefined
    for (const name of Object.keys(given)) {
      if (name === tombstoneHeader || (carriesId && name === carried.messageId)) continue
      if (!add(name, given[name])) return undefined
    }
    return { headers, bytes }
  }
}

function isName(name: string): boolean {
  // No character has more than three bytes for each of its units.
  const fits = name.length * 3 <= maxNameBytes || Buffer.byteLength(name) <= maxNameBytes
  return name !== '' && fits && isText(name)
}

/** Half a surrogate pair has no bytes in UTF-8. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
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
