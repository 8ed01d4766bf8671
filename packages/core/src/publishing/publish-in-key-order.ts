import type { OutboundMessage } from '../ports/transport-message.ts'
import type { PublishOutcome } from '../ports/transport.ts'
import { publishFailures } from './publish-failures.ts'

/**
 * Sends a batch with at most one unconfirmed message per ordering key of a destination: pipelining two would let the
 * second be confirmed after the first was refused. What follows an unconfirmed message of its key is not sent and
 * answers `unavailable` with code `ORDER_HELD`. Messages without a key, and those of other keys, are not held.
 *
 * @param send - starts to send at once, in call order, and never rejects.
 */
export function publishInKeyOrder(
  messages: readonly OutboundMessage[],
  send: (message: OutboundMessage) => Promise<PublishOutcome>,
): Promise<readonly PublishOutcome[]> {
  const tails = new Map<string, Promise<PublishOutcome>>()
  return Promise.all(
    messages.map((message) => {
      if (message.orderingKey === undefined) return send(message)
      const key = JSON.stringify([message.destination, message.orderingKey])
      const outcome = sendAfter(tails.get(key), () => send(message))
      tails.set(key, outcome)
      return outcome
    }),
  )
}

async function sendAfter(
  earlier: Promise<PublishOutcome> | undefined,
  send: () => Promise<PublishOutcome>,
): Promise<PublishOutcome> {
  if (earlier !== undefined && (await earlier).status !== 'confirmed') {
    return { status: 'unavailable', failure: publishFailures.orderHeld }
  }
  return send()
}
