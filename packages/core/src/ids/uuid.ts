import { createHash, randomBytes } from 'node:crypto'
import { ArgumentError } from '../errors/errors.ts'

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Tells whether text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return pattern.test(text)
}

/**
 * Takes a UUID in any case and answers it in lower case.
 *
 * @throws ArgumentError when it is not one.
 */
export function normalizeUuid(text: string): string {
  const lower = typeof text === 'string' ? text.toLowerCase() : ''
  if (!isUuid(lower)) {
    throw new ArgumentError(
      'expected a UUID of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, found other text',
    )
  }
  return lower
}

/** A new UUIDv7 (RFC 9562): 48 bits of time in milliseconds, then random bits. */
export function uuidV7(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Math.max(0, Math.floor(nowMs)) % 2 ** 48, 0, 6)
  return format(bytes, 7)
}

/** The UUIDv5 (RFC 9562) of a name within a namespace. */
export function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1')
  hash.update(Buffer.from(normalizeUuid(namespace).replaceAll('-', ''), 'hex'))
  hash.update(name, 'utf8')
  return format(hash.digest().subarray(0, 16), 5)
}

function format(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
