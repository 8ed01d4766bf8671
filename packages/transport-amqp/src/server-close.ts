/** What the broker said when it closed a channel or refused an operation. */
export interface ServerClose {
  /** Reply code: 403 access refused, 404 not found, 405 resource locked, 406 precondition failed, others. */
  readonly code: number | undefined
  /** The text of the broker, without the prefix of the client. */
  readonly text: string
  /** The exchange that it names, if any. */
  readonly exchange?: string
  /** True when it says that a queue does not exist (not: that its node is down). */
  readonly queueMissing: boolean
  /** True when it closed the channel because a delivery was held longer than its consumer timeout. */
  readonly consumerTimeout: boolean
  /** Largest body that the broker takes, when it closed the channel because of a larger one. */
  readonly maxMessageBytes?: number
  /** True when a declaration met something else under the same name. */
  readonly inequivalent: boolean
}

const quotedMessage = /with message "(?<text>.*)"\s*$/su
const tooLarge = /message size \d+ (?:is )?larger than (?:configured )?max size (?<bytes>\d+)/u
const namedExchange = /\bexchange '(?<exchange>[^']*)' in vhost/u

/**
 * Reads the error that the client makes of a close frame. The texts are those of RabbitMQ 3.8 to 4.x; an unknown
 * text only means that nothing is named, never a failure.
 */
export function readServerClose(error: unknown): ServerClose {
  // Not by instanceof: errors of the runtime itself may come from another realm.
  const given = error as { readonly message?: unknown; readonly code?: unknown } | null | undefined
  const message = typeof given?.message === 'string' ? given.message : ''
  const code = given?.code
  const text = quotedMessage.exec(message)?.groups?.['text'] ?? message
  const exchange = namedExchange.exec(text)?.groups?.['exchange']
  const maxBytes = code === 406 ? tooLarge.exec(text)?.groups?.['bytes'] : undefined
  return {
    code: typeof code === 'number' ? code : undefined,
    text,
    ...(exchange === undefined ? {} : { exchange }),
    ...(maxBytes === undefined ? {} : { maxMessageBytes: Number(maxBytes) }),
    queueMissing: code === 404 && text.includes('no queue '),
    consumerTimeout: code === 406 && text.includes('delivery acknowledgement on channel'),
    inequivalent: code === 406 && text.includes('inequivalent arg'),
  }
}
