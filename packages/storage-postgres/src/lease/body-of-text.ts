import type { Mutable, StoredMessage } from '@litebus/core'

/** When the bytes of a body are made that came as text. */
export type BodiesAre = 'madeOnDemand' | 'madeAtOnce'

/**
 * Completes a message with its body as the driver brought it. Handlers of JSON read the text; bytes are made when
 * somebody asks for them, since making them costs more than all other fields. A relay asks for all of them, and the
 * getter would be the dearest part.
 */
export function withBody(
  fields: Pick<StoredMessage, 'id' | 'contractName' | 'contractVersion' | 'createdAt'>,
  received: unknown,
  bodies: BodiesAre = 'madeOnDemand',
): Mutable<StoredMessage> {
  if (typeof received !== 'string') {
    return { ...fields, body: received instanceof Uint8Array ? Buffer.from(received) : Buffer.alloc(0) }
  }
  if (bodies === 'madeAtOnce') {
    const { id, contractName, contractVersion, createdAt } = fields
    // Without the text: both of them would be held, and moved by the garbage collector, until the message is settled.
    return { id, contractName, contractVersion, createdAt, body: Buffer.from(received, 'utf8') }
  }
  const message = { ...fields, text: received }
  return Object.defineProperty(message, 'body', bodyOfText) as typeof message & { body: Uint8Array }
}

/** One getter for all messages, of their own, so that a copy of a message has its body, too. */
const bodyOfText: PropertyDescriptor & ThisType<Mutable<StoredMessage>> = {
  configurable: true,
  enumerable: true,
  get() {
    const body = Buffer.from(this.text ?? '', 'utf8')
    Object.defineProperty(this, 'body', { value: body, enumerable: true })
    return body
  },
}
