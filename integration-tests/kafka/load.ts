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
const keys = 40

/** Starts to publish; an error of it is thrown by `stop`. */
export function startLoad(transport: Transport, topic: string, { most }: { readonly most: number }): Load {
  const confirmed = new Set<string>()
  let ambiguous = 0
  let stopping = false

  const publish = async (batch: readonly OutboundMessage[]): Promise<void> => {
    let left = batch
    while (left.length > 0) {
      const outcomes = await transport.publisher.publish(left)
      const open: OutboundMessage[] = []
      left.forEach((message, slot) => {
        const status = outcomes[slot]?.status
        if (status === 'rejected')
          throw new Error(`expected no message to be rejected, found ${message.messageId}`)
        if (status === 'confirmed') confirmed.add(message.messageId)
        else open.push(message)
        if (status === 'ambiguous') ambiguous += 1
      })
      left = open
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
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
    }
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
