import type { OutboundMessage } from '../ports/transport-message.ts'
import type { PublishOutcome } from '../ports/transport.ts'
import { publishFailures } from './publish-failures.ts'

/**
 * Sends a batch with at most one unconfirmed message per ordering key of a destination: pipelining two would let the
 * second be confirmed after the first was refused. What follows an unconfirmed message of its key is not sent and
 * answers `unavailable` with code `ORDER_HELD`. Messages without a key, and those of other keys, are not held.
 *
 * @param send - starts to send at once, in call order, and calls `answer` once, now or later; never throws.
 */
export function publishInKeyOrder(
  messages: readonly OutboundMessage[],
  send: (message: OutboundMessage, answer: (outcome: PublishOutcome) => void) => void,
): Promise<readonly PublishOutcome[]> {
  // Callbacks and not a promise for each message: a relay publishes many thousands a second.
  return new Promise((resolve) => {
    const outcomes: PublishOutcome[] = messages.map(() => held)
    let unanswered = messages.length
    if (unanswered === 0) resolve(outcomes)
    const answered = (index: number, outcome: PublishOutcome): void => {
      outcomes[index] = outcome
      unanswered -= 1
      if (unanswered === 0) resolve(outcomes)
    }
    const sendIn = (lane: Lane, { message, index }: Entry): void => {
      lane.state = 'busy'
      send(message, (outcome) => {
        const confirmed = outcome.status === 'confirmed'
        lane.state = confirmed ? 'free' : 'broken'
        answered(index, outcome)
        if (!confirmed) for (const behind of lane.waiting.splice(0)) answered(behind.index, held)
        const next = lane.waiting.shift()
        if (next !== undefined) sendIn(lane, next)
      })
    }
    const lanes = new Map<string, Lane>()
    messages.forEach((message, index) => {
      if (message.orderingKey === undefined) {
        send(message, (outcome) => {
          answered(index, outcome)
        })
        return
      }
      const lane = laneOf(lanes, message)
      if (lane.state === 'free') sendIn(lane, { message, index })
      else if (lane.state === 'busy') lane.waiting.push({ message, index })
      else answered(index, held)
    })
  })
}

const held: PublishOutcome = { status: 'unavailable', failure: publishFailures.orderHeld }

interface Entry {
  readonly message: OutboundMessage
  readonly index: number
}

/** The messages of one key of a destination. */
interface Lane {
  state: 'free' | 'busy' | 'broken'
  readonly waiting: Entry[]
}

function laneOf(lanes: Map<string, Lane>, { destination, orderingKey }: OutboundMessage): Lane {
  const key = JSON.stringify([destination, orderingKey])
  const lane = lanes.get(key) ?? { state: 'free', waiting: [] }
  lanes.set(key, lane)
  return lane
}
