import type { OutboundMessage, Transport } from '@litebus/core'

/**
 * Publishes every message twice under the same id, as a relay does that lost the confirmation of the first publish.
 * Only to show that the other side handles each of them once.
 */
export function publishTwice(
  transport: Transport,
  onPublished: (count: number) => void = () => undefined,
): Transport {
  return {
    ...transport,
    publisher: {
      async publish(messages: readonly OutboundMessage[], options) {
        const outcomes = await transport.publisher.publish([...messages, ...messages], options)
        onPublished(outcomes.filter(({ status }) => status === 'confirmed').length)
        return messages.map((_, index) => outcomes[index + messages.length] ?? outcomes[index] ?? unanswered)
      },
    },
  }
}

const unanswered = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'PUBLISH_UNANSWERED' },
} as const
