import {
  publishFailures,
  type OutboundMessage,
  type PublishOutcome,
  type TransportPublisher,
} from '@litebus/core'

/** Gathers what is published in one turn of the event loop into one call of the transport. */
export interface PublishBatcher {
  /** Publishes one message; `answer` is called once. */
  publish(message: OutboundMessage, answer: (outcome: PublishOutcome) => void): void
  /** Publishes one message in a call of its own; never rejects. */
  publishAlone(message: OutboundMessage): Promise<PublishOutcome>
}

/** What a batcher works with. */
export interface PublishBatcherOptions {
  /** The transport. */
  readonly publisher: TransportPublisher
  /** A signal that aborts when a publish has taken too long; called once a batch. */
  readonly deadline: () => { readonly signal: AbortSignal; readonly cancel: () => void }
  /** Most messages of one call. */
  readonly maxBatch: number
}

interface Pending {
  readonly message: OutboundMessage
  readonly answer: (outcome: PublishOutcome) => void
}

/** Starts with nothing gathered. */
export function createPublishBatcher({
  publisher,
  deadline,
  maxBatch,
}: PublishBatcherOptions): PublishBatcher {
  let pending: Pending[] = []

  const flush = (): void => {
    const batch = pending
    pending = []
    for (let from = 0; from < batch.length; from += maxBatch) void send(batch.slice(from, from + maxBatch))
  }
  const send = async (batch: readonly Pending[]): Promise<void> => {
    const { signal, cancel } = deadline()
    try {
      const outcomes = await publisher.publish(
        batch.map(({ message }) => message),
        { signal },
      )
      batch.forEach(({ answer }, index) => {
        answer(inTime(outcomes[index] ?? unanswered, signal))
      })
    } catch {
      // A publisher that rejects breaks its contract; nothing is known about what it sent.
      for (const { answer } of batch) answer(unanswered)
    } finally {
      cancel()
    }
  }
  return {
    publish(message, answer) {
      pending.push({ message, answer })
      if (pending.length === 1) setImmediate(flush)
    },
    publishAlone: (message) =>
      new Promise((answer) => {
        void send([{ message, answer }])
      }),
  }
}

const unanswered: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'PUBLISH_UNANSWERED' },
}

/** Only the deadline cancels a publish here, which is a broker too slow to answer, not a caller who gave up. */
function inTime(outcome: PublishOutcome, { aborted }: AbortSignal): PublishOutcome {
  if (!aborted || outcome.status === 'confirmed') return outcome
  return outcome.failure.code === publishFailures.cancelled.code
    ? { ...outcome, failure: publishFailures.timeout }
    : outcome
}
