import {
  hopHeaders,
  idOfHop,
  isBrokerHeader,
  isListedHeader,
  readLenientText,
  textOf,
  type Failure,
  type Headers,
  type InboundMessage,
  type OutboundMessage,
} from '@litebus/core'

/** A hop of a message to another destination. */
export interface Hop {
  /** Kind of the hop. */
  readonly kind: 'retry' | 'deadLetter'
  /** Where the copy goes. */
  readonly destination: string
  /** Why. */
  readonly failure: Failure
  /** Attempts made so far. */
  readonly attempt: number
  /** First failure. */
  readonly firstFailureAt: Date
  /** This failure. */
  readonly lastFailureAt: Date
  /** Delay of the copy, for destinations that can. */
  readonly delayMs?: number
  /**
   * Carries headers that LiteBus lists and no others: for messages whose metadata was refused, because headers over
   * the bounds could not be published or read again. @defaultValue false
   */
  readonly sanitized?: boolean
}

/** Headers that carry credentials; a dead-letter place is kept longer and read by more people than its source. */
const secretHeader =
  /auth(?!ors?(?:$|[-_]))|cookie|jwt|bearer|(?:api|access|private)[-_]?key|passw|passphrase|pwd|credential|secret|session|signature|connection[-_]?string|token(?!s$)|(?:^|[-_])(?:dsn|otp|pin|sas)(?:$|[-_])/i
const hopHeaderNames: ReadonlySet<string> = new Set(Object.values(hopHeaders))
const maxListedLength = 2048

/**
 * The copy of a message for one hop: the original body, id and headers, and the reserved headers of the hop, which
 * replace those of the hop before. Never error text; for dead letters no credentials either.
 */
export function hopCopy(message: InboundMessage, messageId: string, hop: Hop): OutboundMessage {
  const headers = carriedHeaders(message.headers, hop)
  // What was redriven and failed again is another hop, and loops of redrives have to be seen.
  const redriveId = readLenientText(message.headers, hopHeaders.redriveId)
  if (redriveId !== undefined) headers[hopHeaders.redriveId] = redriveId.slice(0, maxListedLength)
  headers[hopHeaders.failureCategory] = hop.failure.category
  headers[hopHeaders.failureCode] = hop.failure.code
  headers[hopHeaders.originDestination] = message.destination
  headers[hopHeaders.retryAttempt] = String(hop.attempt)
  headers[hopHeaders.firstFailureAt] = hop.firstFailureAt.toISOString()
  headers[hopHeaders.lastFailureAt] = hop.lastFailureAt.toISOString()
  return {
    destination: hop.destination,
    messageId,
    body: message.body,
    headers,
    deduplicationId: idOfHop({
      messageId,
      kind: hop.kind,
      attempt: hop.attempt,
      ...(redriveId === undefined ? {} : { redriveId }),
    }),
    ...(message.contentType === undefined ? {} : { contentType: message.contentType }),
    ...(message.orderingKey === undefined ? {} : { orderingKey: message.orderingKey }),
    ...(hop.delayMs === undefined ? {} : { delayMs: hop.delayMs }),
  }
}

function carriedHeaders(received: Headers, hop: Hop): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(received)) {
    if (value === undefined || isBrokerHeader(name) || hopHeaderNames.has(name.toLowerCase())) continue
    const listed = isListedHeader(name)
    if (hop.kind === 'deadLetter' && !listed && secretHeader.test(name)) continue
    const text = textOf(value)
    if (text === undefined) continue
    if (hop.sanitized === true && (!listed || text.length > maxListedLength)) continue
    headers[name] = text
  }
  return headers
}
