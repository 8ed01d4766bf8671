import type { StoredMessage } from '@litebus/core'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Completes a message with its body as the driver brought it. Handlers of JSON read the text; bytes are made when
 * somebody asks for them, since making them costs more than all other fields.
 */
export function withBody(
  fields: Omit<StoredMessage, 'body' | 'text'>,
  received: unknown,
): Writable<StoredMessage> {
  if (typeof received !== 'string') {
    return { ...fields, body: received instanceof Uint8Array ? Buffer.from(received) : Buffer.alloc(0) }
  }
  const message = { ...fields, text: received }
  return Object.defineProperty(message, 'body', bodyOfText) as typeof message & { body: Uint8Array }
}

/** One getter for all messages, of their own, so that a copy of a message has its body, too. */
const bodyOfText: PropertyDescriptor & ThisType<Writable<StoredMessage>> = {
  configurable: true,
  enumerable: true,
  get() {
    const body = Buffer.from(this.text ?? '', 'utf8')
    Object.defineProperty(this, 'body', { value: body, enumerable: true })
    return body
  },
}
