import type { DeliveryFacts, Headers } from '@litebus/core'
import type { AmqpDriverMessage } from './driver.ts'
import { readHeaders, readTimestamp } from './headers.ts'
import type { AmqpQueue } from './topology/topology.ts'

/** Reads a delivery; total, whatever the publisher put into it. */
export function readDelivery(
  message: AmqpDriverMessage,
  source: string,
  kind: AmqpQueue['kind'],
): DeliveryFacts {
  const { properties, fields } = message
  const headers = readHeaders(message)
  const messageId = textOf(properties.messageId)
  const contentType = textOf(properties.contentType)
  const timestamp = readTimestamp(properties.timestamp)
  const deliveryCount = countOf(fields.redelivered, headers, kind)
  return {
    redelivered: fields.redelivered,
    ...(messageId === undefined ? {} : { deliveryId: messageId }),
    ...(deliveryCount === undefined ? {} : { deliveryCount }),
    message: {
      destination: source,
      body: message.content,
      headers,
      ...(messageId === undefined ? {} : { messageId }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(timestamp === undefined ? {} : { timestamp }),
    },
  }
}

/**
 * Quorum queues count returns in `x-delivery-count`, from the second delivery on. A first delivery never has it from
 * the broker: what stands there then came with the message from another queue.
 */
function countOf(redelivered: boolean, headers: Headers, kind: AmqpQueue['kind']): number | undefined {
  if (kind === 'classic') return undefined
  if (!redelivered) return kind === 'quorum' ? 1 : undefined
  const count = headers['x-delivery-count']
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count + 1 : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
