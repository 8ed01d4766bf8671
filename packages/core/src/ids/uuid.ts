import { hash, randomUUID } from 'node:crypto'
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
  if (typeof text === 'string') {
    if (isUuid(text)) return text
    const lower = text.toLowerCase()
    if (isUuid(lower)) return lower
  }
  throw new ArgumentError(
    'expected a UUID of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, found other text',
  )
}

/** A new UUIDv7 (RFC 9562): 48 bits of time in milliseconds, then random bits. */
export function uuidV7(nowMs: number = Date.now()): string {
  const time = (Math.max(0, Math.floor(nowMs)) % 2 ** 48).toString(16).padStart(12, '0')
  // A random UUID brings the variant and the random bits, from a pool that the platform keeps.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Digits whose first two bits are those of the variant. */
const variants = '89ab'
const shortNameBytes = 1536
/** Most bytes that a character of UTF-16 takes in UTF-8. */
const maxBytesPerCharacter = 3

/** The UUIDv5 (RFC 9562) of a name within a namespace. */
export function uuidV5(namespace: string, name: string): string {
  return nameUuids(namespace)(name)
}

/** The same for many names of one namespace. */
export function nameUuids(namespace: string): (name: string) => string {
  const prefix = Buffer.from(normalizeUuid(namespace).replaceAll('-', ''), 'hex')
  // Written over by each name: names are short, and most of the cost would be in making a buffer for each.
  const scratch = Buffer.concat([prefix, Buffer.alloc(shortNameBytes)])
  return (name) => {
    const fits = name.length * maxBytesPerCharacter <= shortNameBytes
    const hex = hash(
      'sha1',
      fits
        ? scratch.subarray(0, prefix.byteLength + scratch.write(name, prefix.byteLength, 'utf8'))
        : Buffer.concat([prefix, Buffer.from(name, 'utf8')]),
    )
    const variant = variants.charAt(Number.parseInt(hex.charAt(16), 16) & 0x3)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
}
