import {
  checkHeaderBounds,
  InboxIngressError,
  isStorableText,
  storeLimits,
  wireHeaders,
  type WireMetadata,
} from '@litebus/core'

/** What a row carries besides its body. */
export type Carried = Pick<
  WireMetadata,
  'tenantId' | 'idempotencyKey' | 'orderingKey' | 'correlationId' | 'causationId' | 'headers'
>

/**
 * Refuses what no row can carry. Bounds held at admission, but tables, lists and bytes are longer as text, keys of
 * brokers are not headers, and not every transport refuses text that is not well-formed. Left to the inbox it would be
 * refused as well, without a word about which part of the delivery was wrong.
 *
 * @throws InboxIngressError naming the header or the bound, never content.
 */
export function checkCarried(carried: Carried): void {
  checkId(wireHeaders.tenantId, carried.tenantId, storeLimits.tenantLength)
  checkId(wireHeaders.idempotencyKey, carried.idempotencyKey)
  checkId(wireHeaders.orderingKey, carried.orderingKey)
  checkId(wireHeaders.correlationId, carried.correlationId)
  checkId(wireHeaders.causationId, carried.causationId)
  const { headers } = carried
  for (const name in headers) {
    if (name === '' || !isStorableText(name)) {
      throw wrong('header names that are not empty, of well-formed text without NUL', name.length)
    }
    const value = headers[name] ?? ''
    if (!isStorableText(value)) throw wrong('header values of well-formed text without NUL', value.length)
  }
  checkHeaderBounds(headers)
}

function checkId(header: string, value: string | undefined, max: number = storeLimits.keyLength): void {
  if (value === undefined || (value.length <= max && isStorableText(value))) return
  const expected = `at most ${String(max)} characters of well-formed text without NUL`
  throw new InboxIngressError(
    `expected ${expected} in header ${header}, found ${String(value.length)} characters`,
    { deliveryFault: { part: 'headers', header, expected, found: value.length } },
  )
}

function wrong(expected: string, found: number): InboxIngressError {
  return new InboxIngressError(`expected ${expected}, found ${String(found)} characters`, {
    deliveryFault: { part: 'headers', expected, found },
  })
}
