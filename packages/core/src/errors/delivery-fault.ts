/** What of a delivery can be wrong in itself. */
export type DeliveryPart =
  'size' | 'identity' | 'authorization' | 'headers' | 'contract' | 'version' | 'body' | 'schema'

/**
 * What was wrong with a delivery, for logs: where to look, what was expected and how much there was. Never anything
 * that its publisher wrote.
 */
export interface DeliveryFault {
  /** What was wrong. */
  readonly part: DeliveryPart
  /** Name of a header that LiteBus defines, where one of them was wrong. */
  readonly header?: string
  /** What was expected, in a few words. */
  readonly expected?: string
  /** Size of what was found: bytes of a body or a value, characters of an id, number of headers. */
  readonly found?: number
}
