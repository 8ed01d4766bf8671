import {
  publishFailures,
  type OutboundMessage,
  type PublishOutcome,
  type TransportPublisher,
} from '@litebus/core'

/** What is published with others. */
export interface Outgoing {
  /** The message. */
  readonly message: OutboundMessage
}

/** Gathers what is published in one turn of the event loop into one call of the transport. */
export interface PublishBatcher<T extends Outgoing> {
  /** Publishes one message; it is answered once. */
  publish(outgoing: T): void
  /** Publishes one message in a call of its own; never rejects. */
  publishAlone(message: OutboundMessage): Promise<PublishOutcome>
}

/** What a batcher works with. */
export interface PublishBatcherOptions<T extends Outgoing> {
  /** The transport. */
  readonly publisher: TransportPublisher
  /** A signal that aborts when a publish has taken too long; called once a batch. */
  readonly deadline: () => { readonly signal: AbortSignal; readonly cancel: () => void }
  /** Most messages of one call. */
  readonly maxBatch: number
  /** Receives the outcome of each message. */
  readonly answer: (outgoing: T, outcome: PublishOutcome) => void
}

/** Starts with nothing gathered. */
export function createPublishBatcher<T extends Outgoing>({
  publisher,
  deadline,
  maxBatch,
  answer,
}: PublishBatcherOptions<T>): PublishBatcher<T> {
  let pending: T[] = []

  const outcomesOf = async (
    messages: readonly OutboundMessage[],
    signal: AbortSignal,
  ): Promise<readonly PublishOutcome[]> => {
    try {
      const outcomes = await publisher.publish(messages, { signal })
      return messages.map((_, index) => sound(outcomes[index], signal))
    } catch {
      // A publisher that rejects breaks its contract; nothing is known about what it sent.
      return []
    }
  }
  const flush = (): void => {
    const batch = pending
    pending = []
    for (let from = 0; from < batch.length; from += maxBatch)
      void send(batch.slice(from, from + maxBatch), answer)
  }
  const send = async <E extends Outgoing>(
    batch: readonly E[],
    tell: (outgoing: E, outcome: PublishOutcome) => void,
  ): Promise<void> => {
    const { signal, cancel } = deadline()
    const messages = batch.map(({ message }) => message)
    const outcomes = await outcomesOf(messages, signal)
    cancel()
    batch.forEach((outgoing, index) => {
      tell(outgoing, outcomes[index] ?? unanswered)
    })
  }
  return {
    publish(outgoing) {
      pending.push(outgoing)
      if (pending.length === 1) setImmediate(flush)
    },
    publishAlone: (message) =>
      new Promise((resolve) => {
        void send([{ message }], (_, outcome) => {
          resolve(outcome)
        })
      }),
  }
}

const unanswered: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'PUBLISH_UNANSWERED' },
}

/** What is no outcome, from a publisher without types, says nothing about its message, and is not for the others to pay. */
function sound(outcome: PublishOutcome | undefined, signal: AbortSignal): PublishOutcome {
  if (outcome == null) return unanswered
  if (outcome.status === 'confirmed') return outcome
  const failure: unknown = outcome.failure
  const isOutcome = unconfirmed.has(outcome.status) && typeof failure === 'object' && failure !== null
  return isOutcome ? inTime(outcome, signal) : unanswered
}

const unconfirmed: ReadonlySet<unknown> = new Set<PublishOutcome['status']>([
  'rejected',
  'unavailable',
  'ambiguous',
])

/** Only the deadline cancels a publish here, which is a broker too slow to answer, not a caller who gave up. */
function inTime(
  outcome: Exclude<PublishOutcome, { readonly status: 'confirmed' }>,
  signal: AbortSignal,
): PublishOutcome {
  if (!signal.aborted) return outcome
  return outcome.failure.code === publishFailures.cancelled.code
    ? { ...outcome, failure: publishFailures.timeout }
    : outcome
}
