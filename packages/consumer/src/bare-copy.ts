import { hopHeaders, wireHeaders, type OutboundMessage } from '@litebus/core'

/** Longest id and header value that every broker takes, in bytes. */
const maxBytes = 255
const kept: ReadonlySet<string> = new Set([
  ...Object.values(hopHeaders),
  wireHeaders.contractName,
  wireHeaders.contractVersion,
  wireHeaders.messageId,
])

/**
 * The copy of a message that the broker cannot carry as it is: the body, what the hop says and the contract, under an
 * id that fits. The id of the hop takes the place of one that does not, so that a repetition is still recognised.
 */
export function bareCopy(copy: OutboundMessage): OutboundMessage {
  const headers = Object.fromEntries(
    Object.entries(copy.headers).filter(
      ([name, value]) => kept.has(name) && Buffer.byteLength(value) <= maxBytes,
    ),
  )
  const messageId =
    Buffer.byteLength(copy.messageId) <= maxBytes
      ? copy.messageId
      : (copy.deduplicationId ?? crypto.randomUUID())
  return { ...copy, messageId, headers }
}
