import { checkHeaderBounds, InboxIngressError, type InboundMessage } from '@litebus/core'

/**
 * Refuses what must not be looked into: first by the size of the body, then by the bounds of the headers.
 *
 * @throws InboxIngressError naming the bound, never content.
 */
export function admit(message: InboundMessage, maxMessageBytes: number): void {
  if (maxMessageBytes > 0 && message.body.byteLength > maxMessageBytes) {
    throw new InboxIngressError(
      `expected a body of at most ${String(maxMessageBytes)} bytes, found ${String(message.body.byteLength)}`,
    )
  }
  checkHeaderBounds(message.headers)
}
