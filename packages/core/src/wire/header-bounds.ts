import { InboxIngressError } from '../errors/errors.ts'
import type { Headers, HeaderValue } from '../ports/transport-message.ts'
import { isBrokerHeader, isListedHeader } from './header-names.ts'

/** Bounds of the headers of one delivery, checked before anything reads them. */
export interface HeaderBounds {
  /** Headers of the application. @defaultValue 64 */
  readonly maxHeaders: number
  /** Bytes of a name in UTF-8. @defaultValue 128 */
  readonly maxNameBytes: number
  /** Bytes of one value. @defaultValue 8192 */
  readonly maxValueBytes: number
  /** Bytes of all names and values of the application. @defaultValue 32 768 */
  readonly maxTotalBytes: number
  /** Depth of tables and lists. @defaultValue 4 */
  readonly maxDepth: number
}

/** The bounds at admission. */
export const headerBounds: HeaderBounds = Object.freeze({
  maxHeaders: 64,
  maxNameBytes: 128,
  maxValueBytes: 8192,
  maxTotalBytes: 32_768,
  maxDepth: 4,
})

/**
 * Checks headers against the bounds. Headers that LiteBus lists count towards no total, so that a message can never
 * become unreadable by being retried, but each of their values is bounded like any other; what a broker added on its
 * way does not count at all.
 *
 * @throws InboxIngressError naming the bound; never the value.
 */
export function checkHeaderBounds(headers: Headers, bounds: HeaderBounds = headerBounds): void {
  let count = 0
  let total = 0
  // No list of the names is made: each message comes through here.
  for (const name in headers) {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (value === undefined || isBrokerHeader(name)) continue
    const nameBytes = Buffer.byteLength(name)
    if (nameBytes > bounds.maxNameBytes) {
      throw exceeded(`header names of at most ${String(bounds.maxNameBytes)} bytes`, nameBytes)
    }
    const valueBytes = sizeOf(value, bounds, 0)
    if (valueBytes > bounds.maxValueBytes) {
      throw exceeded(`header values of at most ${String(bounds.maxValueBytes)} bytes`, valueBytes)
    }
    if (isListedHeader(name)) continue
    count += 1
    total += nameBytes + valueBytes
  }
  if (count > bounds.maxHeaders) throw exceeded(`at most ${String(bounds.maxHeaders)} headers`, count)
  if (total > bounds.maxTotalBytes) {
    throw exceeded(`at most ${String(bounds.maxTotalBytes)} bytes of headers`, total)
  }
}

function sizeOf(value: HeaderValue | undefined, bounds: HeaderBounds, depth: number): number {
  if (depth > bounds.maxDepth) throw exceeded(`headers nested at most ${String(bounds.maxDepth)} deep`, depth)
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.byteLength
  if (typeof value !== 'object' || value === null || value instanceof Date) return 8
  let size = 0
  for (const [name, inner] of Object.entries(value as Record<string, HeaderValue>)) {
    size += (Array.isArray(value) ? 0 : Buffer.byteLength(name)) + sizeOf(inner, bounds, depth + 1)
    if (size > bounds.maxValueBytes) return size
  }
  return size
}

function exceeded(expected: string, found: number): InboxIngressError {
  return new InboxIngressError(`expected ${expected}, found ${String(found)}`, {
    deliveryFault: { part: 'headers', expected, found },
  })
}
