import type { OutboundMessage, Transport } from '@litebus/core'

/** Publishes without end until it is told to stop, each message until it is confirmed. */
export interface Load {
  /** Ids that the broker confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** Publishes whose outcome is open: each of them may be a second copy. */
  readonly ambiguous: number
  /** Stops; resolves when what was begun is confirmed. */
  stop(): Promise<void>
}

const batchSize = 50
/** As many as a batch has messages: each batch brings the same number to each partition, as a repetition would. */
const keys = batchSize

/** Starts to publish; an error of it is thrown by `stop`. */
export function startLoad(transport: Transport, topic: string, { most }: { readonly most: number }): Load {
  const confirmed = new Set<string>()
  let open: OutboundMessage[] = []
  let ambiguous = 0
  let stopping = false

  const publish = async (batch: readonly OutboundMessage[]): Promise<void> => {
    const outcomes = await transport.publisher.publish(batch)
    batch.forEach((message, slot) => {
      const status = outcomes[slot]?.status
      if (status === 'rejected')
        throw new Error(`expected no message to be rejected, found ${message.messageId}`)
      if (status === 'confirmed') confirmed.add(message.messageId)
      else open.push(message)
      if (status === 'ambiguous') ambiguous += 1
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const publishOpen = async (): Promise<void> => {
    const again = open
    open = []
    if (again.length > 0) await publish(again)
  }
  const run = async (): Promise<void> => {
    for (let first = 0; !stopping && first < most; first += batchSize) {
      await publish(
        Array.from({ length: batchSize }, (_, index) => ({
          destination: topic,
          messageId: `m-${String(first + index)}`,
          body: Buffer.from(`{"number":${String(first + index)}}`),
          headers: {},
          orderingKey: `key-${String((first + index) % keys)}`,
        })),
      )
      // After a failure other messages go first: a broker that takes them for a repetition would lose them.
      if ((first / batchSize) % 4 === 3) await publishOpen()
    }
    while (open.length > 0) await publishOpen()
  }
  const running = run()
  running.catch(() => undefined)
  return {
    confirmed,
    get ambiguous() {
      return ambiguous
    },
    stop() {
      stopping = true
      return running
    },
  }
}
