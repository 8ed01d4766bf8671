import {
  publishFailures,
  publishInKeyOrder,
  type Failure,
  type OutboundMessage,
  type PublishOutcome,
  type TransportPublisher,
} from '@litebus/core'
import type { MemoryQueue } from './broker/memory-queue.ts'
import { untilAborted } from './broker/wait.ts'
import type { MemoryConnection } from './connection.ts'
import { headersAreCarried, messageBytes } from './headers.ts'
import type { ResolvedMemoryOptions } from './options.ts'

/** Where a publish may go on to, or why it ends here. */
type Admission =
  | { readonly queues: readonly MemoryQueue[]; readonly lost: AbortSignal }
  | { readonly refused: PublishOutcome }

const confirmed: PublishOutcome = Object.freeze({ status: 'confirmed' })

function failed(status: 'rejected' | 'ambiguous' | 'unavailable', failure: Failure): PublishOutcome {
  return { status, failure }
}

/** Publishes into the broker, waiting where it is blocked or a queue is full. */
export function createMemoryPublisher(
  options: ResolvedMemoryOptions,
  connection: MemoryConnection,
): TransportPublisher {
  const { internals } = options.broker
  /** The last admission of each destination: what waits for room must not be overtaken. */
  const tails = new Map<string, Promise<unknown>>()

  const locallyRefused = (message: OutboundMessage): PublishOutcome | undefined => {
    if (!headersAreCarried(message.headers)) return failed('rejected', publishFailures.headerInvalid)
    if (messageBytes(message) > options.maxMessageBytes)
      return failed('rejected', publishFailures.messageTooLarge)
    return undefined
  }

  const admit = async (message: OutboundMessage, signal: AbortSignal): Promise<Admission> => {
    for (;;) {
      const lost = connection.current()
      if (connection.closed) return { refused: failed('unavailable', publishFailures.closed) }
      if (lost === undefined) return { refused: failed('unavailable', publishFailures.connectionLost) }
      if (signal.aborted)
        return {
          refused: failed('unavailable', abortFailure(signal, publishFailures.connectionBlocked)),
        }
      const queues = internals.route(message)
      const refusal = routingRefusal(message, queues)
      if (refusal !== undefined) return { refused: refusal }
      const full = queues?.filter((queue) => !queue.hasRoom()) ?? []
      if (full.some((queue) => queue.options.overflow === 'refuse'))
        return { refused: failed('rejected', publishFailures.brokerRefused) }
      if (full.length === 0 && !internals.blocked()) return { queues: queues ?? [], lost }
      await internals.board.nextChange(signal)
    }
  }

  /** Stores at once, so that the next publish of the destination comes after it, and then waits for the confirm. */
  const store = (message: OutboundMessage, admission: Admission, signal: AbortSignal) => {
    if ('refused' in admission) return Promise.resolve(admission.refused)
    const fault = internals.publishFaults.next()
    if (fault === undefined || fault.stored === true) internals.store(message, admission.queues)
    if (fault === undefined) return confirm(admission.lost, signal)
    const failure =
      fault.status === 'rejected' ? publishFailures.brokerRefused : publishFailures.connectionLost
    return Promise.resolve(failed(fault.status, failure))
  }

  const confirm = async (lost: AbortSignal, signal: AbortSignal): Promise<PublishOutcome> => {
    const held = internals.heldConfirms()
    if (held === undefined) return confirmed
    await untilAborted(held, [lost, signal])
    if (internals.heldConfirms() !== held) return confirmed
    const failure = lost.aborted
      ? publishFailures.connectionLost
      : abortFailure(signal, publishFailures.timeout)
    return failed('ambiguous', failure)
  }

  const publishOne = async (message: OutboundMessage, signal: AbortSignal): Promise<PublishOutcome> => {
    const refusal = locallyRefused(message)
    if (refusal !== undefined) return refusal
    const { destination } = message
    const earlier = tails.get(destination) ?? Promise.resolve()
    const answer = earlier.then(async () => ({
      outcome: store(message, await admit(message, signal), signal),
    }))
    tails.set(destination, answer)
    const { outcome } = await answer
    if (tails.get(destination) === answer) tails.delete(destination)
    return outcome
  }

  return {
    async publish(messages, { signal: given } = {}) {
      const timeout = new AbortController()
      const timer = internals.clock.schedule(options.publishTimeoutMs, () => {
        timeout.abort(publishFailures.timeout)
      })
      const signal = given === undefined ? timeout.signal : AbortSignal.any([given, timeout.signal])
      try {
        return await publishInKeyOrder(messages, (message, answer) => {
          void publishOne(message, signal).then(answer)
        })
      } finally {
        timer.cancel()
      }
    },
  }
}

function routingRefusal(
  message: OutboundMessage,
  queues: readonly MemoryQueue[] | undefined,
): PublishOutcome | undefined {
  if (queues === undefined && message.routingKey !== undefined)
    return failed('rejected', publishFailures.destinationMissing)
  if (queues === undefined || queues.length === 0) return failed('rejected', publishFailures.unroutable)
  return undefined
}

/** Why a publish ended: by its own timeout, or by the caller. */
function abortFailure(signal: AbortSignal, onTimeout: Failure): Failure {
  return signal.reason === publishFailures.timeout ? onTimeout : publishFailures.cancelled
}
