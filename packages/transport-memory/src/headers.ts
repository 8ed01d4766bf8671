import type { OutboundMessage } from '@litebus/core'

/** Longest header name in bytes, as in AMQP, so that what passes here passes there. */
const maxHeaderNameBytes = 255

const encoder = new TextEncoder()

/** Bytes of body and headers. */
export function messageBytes({ body, headers }: Pick<OutboundMessage, 'body' | 'headers'>): number {
  let bytes = body.byteLength
  for (const [name, value] of Object.entries(headers))
    bytes += encoder.encode(name).length + encoder.encode(value).length
  return bytes
}

/** True when every header can be carried: names of 1 to 255 bytes, values that are text. */
export function headersAreCarried(headers: OutboundMessage['headers']): boolean {
  return Object.entries(headers).every(
    ([name, value]) =>
      name !== '' && encoder.encode(name).length <= maxHeaderNameBytes && typeof value === 'string',
  )
}
