import { checkHeaderBounds, InboxIngressError, type InboundMessage } from '@litebus/core'

/** Whether a body is over the limit; 0 means no limit. */
export function isOversize(message: InboundMessage, maxMessageBytes: number): boolean {
  return maxMessageBytes > 0 && message.body.byteLength > maxMessageBytes
}

/**
 * Refuses what must not be looked into: first by the size of the body, then by the bounds of the headers.
 *
 * @throws InboxIngressError naming the bound, never content.
 */
export function admit(message: InboundMessage, maxMessageBytes: number): void {
  if (isOversize(message, maxMessageBytes)) {
    const expected = `at most ${String(maxMessageBytes)} bytes`
    const found = message.body.byteLength
    throw new InboxIngressError(`expected a body of ${expected}, found ${String(found)}`, {
      deliveryFault: { part: 'size', expected, found },
    })
  }
  checkHeaderBounds(message.headers)
}
