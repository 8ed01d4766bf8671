import { hopHeaders, InboxIngressError, readNonNegativeInteger, readText, type Delivery } from '@litebus/core'

/** Where a message stands in its attempts. */
export interface Attempt {
  /** 1-based number of this attempt. */
  readonly attempt: number
  /** Attempts that copies of the message carry in a header; the rest is carried by the transport, or made here. */
  readonly copies: number
  /** First failure, when there was one. */
  readonly firstFailureAt?: Date
}

/**
 * Reads how often a message was tried: 1, plus the retries made by copies (in its headers), plus those that the
 * transport carried across returns. A missing header is 0; broker redeliveries are no attempts.
 *
 * @throws FormatError when the retry header is malformed, InboxIngressError when the first failure is.
 */
export function attemptOf({ message, attempt: carried = 0, firstFailureAt }: Delivery): Attempt {
  const copies = readNonNegativeInteger(message.headers, hopHeaders.retryAttempt) ?? 0
  const first = firstFailureAt ?? readDate(readText(message.headers, hopHeaders.firstFailureAt))
  return {
    attempt: 1 + copies + Math.max(0, carried),
    copies,
    ...(first === undefined ? {} : { firstFailureAt: first }),
  }
}

const isoTime = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\d(?:T|$)/u

function readDate(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const date = new Date(text)
  // `Date` takes much more than ISO 8601: a bare number becomes some month of 2001.
  if (!isoTime.test(text) || Number.isNaN(date.getTime())) {
    throw new InboxIngressError(`expected a time in ISO 8601 in header ${hopHeaders.firstFailureAt}`)
  }
  return date
}
