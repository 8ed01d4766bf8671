import { FormatError } from '../errors/errors.ts'
import type { Headers, HeaderValue } from '../ports/transport-message.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Finds a header by name: exactly first, then in any case. */
export function findHeader(headers: Headers, name: string): HeaderValue | undefined {
  if (Object.hasOwn(headers, name)) return headers[name]
  // Most headers are absent and asked for in every message: this makes no list, and the length tells most apart.
  for (const candidate in headers) {
    if (candidate.length !== name.length || candidate.toLowerCase() !== name.toLowerCase()) continue
    if (Object.hasOwn(headers, candidate)) return headers[candidate]
  }
  return undefined
}

/**
 * Reads a header as text, from the strings, bytes, numbers, booleans and dates of any broker. Absent, `null` and
 * blank values are `undefined`.
 *
 * @throws FormatError when the value is a table, a list, or bytes that are not UTF-8.
 */
export function readText(headers: Headers, name: string): string | undefined {
  const value = findHeader(headers, name)
  if (value === undefined || value === null) return undefined
  const text = textOf(value)
  if (text === undefined) {
    throw malformed({ name, expected: 'text', value }, typeName(value))
  }
  const trimmed = text.trim()
  return trimmed === '' ? undefined : trimmed
}

/** Reads an optional header as text; what cannot be read as text is as good as absent. */
export function readLenientText(headers: Headers, name: string): string | undefined {
  const value = findHeader(headers, name)
  const text = value === undefined ? undefined : textOf(value)?.trim()
  return text === '' ? undefined : text
}

/**
 * Reads a header as a positive integer of at most 2³¹−1.
 *
 * @throws FormatError when it is present and anything else.
 */
export function readPositiveInteger(headers: Headers, name: string): number | undefined {
  const number = readNonNegativeInteger(headers, name)
  if (number === 0) throw malformed({ name, expected: 'a positive integer', value: '0' }, '0')
  return number
}

/**
 * Reads a header as an integer from 0 to 2³¹−1.
 *
 * @throws FormatError when it is present and anything else.
 */
export function readNonNegativeInteger(headers: Headers, name: string): number | undefined {
  const text = readText(headers, name)
  if (text === undefined) return undefined
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= 2 ** 31 - 1)) {
    throw malformed({ name, expected: 'an integer from 0 to 2147483647', value: text }, 'something else')
  }
  return number
}

/** Text of a simple header value; `undefined` for tables, lists, `null` and bytes that are not UTF-8. */
export function textOf(value: HeaderValue): string | undefined {
  if (typeof value === 'string') return value
  if (value === null) return undefined
  if (value instanceof Uint8Array) return textOfBytes(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString()
  return typeof value === 'object' ? undefined : String(value)
}

/** A decoder that refuses what is not UTF-8 is several times slower than one that marks it, which is rare. */
function textOfBytes(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString('utf8')
  return text.includes('\ufffd') || text.startsWith('\ufeff') ? strictTextOf(bytes) : text
}

function strictTextOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

interface MalformedHeader {
  readonly name: string
  readonly expected: string
  readonly value: HeaderValue
}

function malformed({ name, expected, value }: MalformedHeader, found: string): FormatError {
  const size = sizeOf(value)
  return new FormatError(`expected ${expected} in header ${name}, found ${found}`, {
    deliveryFault: {
      part: 'headers',
      header: name,
      expected,
      ...(size === undefined ? {} : { found: size }),
    },
  })
}

/** Bytes of a simple value; tables and lists have no size that says anything. */
function sizeOf(value: HeaderValue): number | undefined {
  if (value instanceof Uint8Array) return value.byteLength
  return typeof value === 'string' ? Buffer.byteLength(value) : undefined
}

function typeName(value: HeaderValue): string {
  if (value instanceof Uint8Array) return 'bytes that are not UTF-8'
  if (Array.isArray(value)) return 'a list'
  return value instanceof Date ? 'an invalid date' : 'a table'
}
