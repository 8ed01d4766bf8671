import type { OutboundMessage } from '@litebus/core'
import type { TestDestination } from '../fixture.ts'

const encoder = new TextEncoder()

/** Bytes of a text. */
export function bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A message to a destination; the id is its body too unless another one is given. */
export function message(
  target: TestDestination,
  id: string,
  overrides: Partial<OutboundMessage> = {},
): OutboundMessage {
  return {
    destination: target.destination,
    messageId: id,
    body: bytes(id),
    headers: {},
    ...(target.routingKey === undefined ? {} : { routingKey: target.routingKey }),
    ...overrides,
  }
}

/** So many messages with ids `prefix-0`, `prefix-1`, … */
export function messages(target: TestDestination, prefix: string, count: number): readonly OutboundMessage[] {
  return Array.from({ length: count }, (_, index) => message(target, `${prefix}-${String(index)}`))
}

/** A body like those of real webhooks: nested, long, with text in several scripts. */
export function webhookBody(commits: number): Uint8Array {
  return bytes(
    JSON.stringify({
      ref: 'refs/heads/main',
      repository: { id: 186_853_002, full_name: 'Codertocat/Hello-World', description: null, private: false },
      pusher: { name: 'Zoë Grüße', email: 'zoe@example.org' },
      commits: Array.from({ length: commits }, (_, index) => ({
        id: index.toString(16).padStart(40, '0'),
        message: `Fix №${String(index)}: “quotes”, \\ and \u0000, 日本語, עברית, 👩‍🚀\n\ttabs`,
        timestamp: '2019-05-15T15:20:41Z',
        added: [`src/файл-${String(index)}.ts`],
      })),
    }),
  )
}

/** The same under one ordering key, for cases in which the order matters. */
export function inOrder(batch: readonly OutboundMessage[]): readonly OutboundMessage[] {
  return batch.map((entry) => ({ ...entry, orderingKey: 'key' }))
}
