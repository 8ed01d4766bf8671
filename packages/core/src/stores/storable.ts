import { InboxStorageError } from '../errors/errors.ts'
import { isUuid } from '../ids/uuid.ts'
import type { NewMessage } from '../messages/new-message.ts'

/** Bounds that every store keeps, so that what one takes in a test is taken by another in production. */
export const storeLimits: {
  /** Characters of a tenant id. */
  readonly tenantLength: number
  /** Characters of a contract name. */
  readonly contractNameLength: number
  /** Characters of an idempotency key or an ordering key. */
  readonly keyLength: number
  /** Bytes of one body. */
  readonly bodyBytes: number
  /** Milliseconds of a delay: 100 years. */
  readonly delayMs: number
} = Object.freeze({
  tenantLength: 128,
  contractNameLength: 256,
  keyLength: 512,
  bodyBytes: 256 * 1024 * 1024,
  delayMs: 100 * 365 * 86_400_000,
})

/** PostgreSQL stores no NUL and no lone surrogate in text: refused before they break a transaction. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/**
 * Refuses messages that a store could not write or could not give back unchanged, before anything reaches the
 * caller's transaction.
 *
 * @throws InboxStorageError that names the slot, the field and what was expected.
 */
export function assertStorable(messages: readonly NewMessage[]): void {
  messages.forEach((message, index) => {
    const fault = faultOf(message)
    if (fault !== undefined) {
      throw new InboxStorageError(
        `the store refuses message ${String(index)} of ${String(messages.length)}: ${fault}`,
      )
    }
  })
}

function faultOf(message: NewMessage): string | undefined {
  if (!isUuid(message.id)) return 'expected id to be a UUID in lower case'
  if (!(message.body instanceof Uint8Array)) return 'expected body to be bytes'
  if (message.body.byteLength > storeLimits.bodyBytes) {
    return `expected body of at most ${String(storeLimits.bodyBytes)} bytes, found ${String(message.body.byteLength)}`
  }
  const { contractVersion: version } = message
  if (!Number.isInteger(version) || version < 1 || version > 2_147_483_647) {
    return `expected contractVersion to be a positive integer, found ${String(version)}`
  }
  return (
    textFault('contractName', message.contractName, { min: 1, max: storeLimits.contractNameLength }) ??
    textFault('tenantId', message.tenantId, { min: 0, max: storeLimits.tenantLength }) ??
    textFault('orderingKey', message.orderingKey, { min: 1, max: storeLimits.keyLength }) ??
    textFault('idempotency.key', message.idempotency?.key, { min: 1, max: storeLimits.keyLength }) ??
    visibilityFault(message)
  )
}

function textFault(
  name: string,
  value: string | undefined,
  length: { readonly min: number; readonly max: number },
): string | undefined {
  if (value === undefined) return undefined
  if (value.length < length.min || value.length > length.max) {
    return `expected ${name} of ${String(length.min)} to ${String(length.max)} characters, found ${String(value.length)}`
  }
  if (value.includes('\0')) return `expected ${name} without NUL characters`
  return value.isWellFormed() ? undefined : `expected ${name} without unpaired surrogates`
}

function visibilityFault({ visibility }: NewMessage): string | undefined {
  if (visibility === undefined) return undefined
  if ('at' in visibility) {
    const time = visibility.at.getTime()
    return Number.isFinite(time) && Math.abs(time) <= storeLimits.delayMs * 2
      ? undefined
      : 'expected visibility.at to be a date between 1770 and 2170'
  }
  return visibility.afterMs >= 0 && visibility.afterMs <= storeLimits.delayMs
    ? undefined
    : `expected visibility.afterMs between 0 and 100 years, found ${String(visibility.afterMs)}`
}
