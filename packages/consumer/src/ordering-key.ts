import { findHeader, textOf, wireHeaders, type Delivery } from '@litebus/core'

/** A part of a source whose deliveries are handled in sequence. */
export type LaneOf = (delivery: Delivery) => string | undefined

/**
 * The lane where order has to be preserved: a whole partition where the source has them, else the ordering key, and one
 * lane for everything without a key.
 */
export function strictLaneOf(delivery: Delivery): string {
  return delivery.partition ?? orderingKeyOf(delivery) ?? ''
}

/**
 * The key whose deliveries are handled in sequence: that of the message, else the key, group or session of the broker.
 * Read before admission, so nothing but plain text counts; what is malformed is refused later.
 */
export function orderingKeyOf({ message }: Delivery): string | undefined {
  const header = findHeader(message.headers, wireHeaders.orderingKey)
  const own = header === undefined ? undefined : textOf(header)?.trim()
  const key = own === undefined || own === '' ? message.orderingKey : own
  return key === '' ? undefined : key
}
