import {
  checkHeaderBounds,
  InboxIngressError,
  storeLimits,
  wireHeaders,
  type WireMetadata,
} from '@litebus/core'

/** What a row carries besides its body. */
export type Carried = Pick<
  WireMetadata,
  'tenantId' | 'orderingKey' | 'correlationId' | 'causationId' | 'headers'
>

/**
 * Refuses what no row can carry. Bounds held at admission, but tables, lists and bytes are longer as text, keys of
 * brokers are not headers, and not every transport refuses text that is not well-formed. Left to the inbox it would be
 * refused as well, without a word about which part of the delivery was wrong.
 *
 * @throws InboxIngressError naming the header or the bound, never content.
 */
export function checkCarried({ tenantId, orderingKey, correlationId, causationId, headers }: Carried): void {
  checkId(wireHeaders.tenantId, tenantId)
  checkId(wireHeaders.orderingKey, orderingKey)
  checkId(wireHeaders.correlationId, correlationId)
  checkId(wireHeaders.causationId, causationId)
  for (const name in headers) {
    if (name === '' || !isStorable(name)) {
      throw wrong('header names that are not empty, of well-formed text without NUL', name.length)
    }
    const value = headers[name] ?? ''
    if (!isStorable(value)) throw wrong('header values of well-formed text without NUL', value.length)
  }
  checkHeaderBounds(headers)
}

const idRule = `at most ${String(storeLimits.keyLength)} characters of well-formed text without NUL`

function checkId(header: string, value: string | undefined): void {
  if (value === undefined || (value.length <= storeLimits.keyLength && isStorable(value))) return
  throw new InboxIngressError(
    `expected ${idRule} in header ${header}, found ${String(value.length)} characters`,
    { deliveryFault: { part: 'headers', header, expected: idRule, found: value.length } },
  )
}

function wrong(expected: string, found: number): InboxIngressError {
  return new InboxIngressError(`expected ${expected}, found ${String(found)} characters`, {
    deliveryFault: { part: 'headers', expected, found },
  })
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
