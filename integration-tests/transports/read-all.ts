import type { TestDestination } from '@litebus/conformance'
import type { HeaderValue, InboundMessage } from '@litebus/core'
import { eventually } from '../services/index.ts'
import type { MessagePath } from './message-path.ts'

/** Takes what is in a source, at least `count` messages, in the order in which they come. */
export async function readAll(
  { fixture }: Pick<MessagePath, 'fixture'>,
  { source }: TestDestination,
  count: number,
): Promise<readonly InboundMessage[]> {
  await using transport = fixture.connect()
  const messages: InboundMessage[] = []
  const subscription = await transport.consumer.subscribe({ source, maxInFlight: 100 }, (delivery) => {
    messages.push(delivery.message)
    void delivery.accept()
  })
  try {
    await eventually(
      () => {
        if (messages.length < count) throw new Error(`found ${String(messages.length)}`)
      },
      { expectation: `${String(count)} messages in ${source}` },
    )
  } finally {
    await subscription.stop({ budgetMs: 2000 })
  }
  return messages
}

/** Headers as text, whatever a broker made of them. */
export function textHeaders({ headers }: Pick<InboundMessage, 'headers'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString() : asText(value),
    ]),
  )
}

function asText(value: HeaderValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
