import { isStorableText, readLenientText, uuidV7, wireHeaders, type Delivery } from '@litebus/core'

const maxIdLength = 512

/**
 * The id of a delivered message: that of the broker, else the one in its header, else that of the delivery. Without a
 * valid one it gets a new id: under a shared name, a dead-letter place that deduplicates would swallow all but one.
 */
export function messageIdOf({ message, deliveryId }: Delivery): string {
  const candidates = [message.messageId, readLenientText(message.headers, wireHeaders.messageId), deliveryId]
  return candidates.find((id) => id !== undefined && isValid(id)) ?? uuidV7()
}

function isValid(id: string): boolean {
  return id !== '' && id.length <= maxIdLength && isStorableText(id)
}
