import { createRequire } from 'node:module'

/** An order as a client would send it: its bytes, and what is in them. */
export interface SampleOrder {
  /** Id of the order. */
  readonly orderId: string
  /** The JSON bytes. */
  readonly body: Buffer
}

/** Webhook bodies as GitHub documents them; the package is JSON, and its types name no module format. */
const webhooks = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly {
  readonly examples: readonly unknown[]
}[]

/** Which order cannot be handled by the first version of the worker. */
const poisonIndex = 7

/** Orders around real webhook bodies, up to tens of kilobytes, with customers beyond ASCII. */
export function sampleOrders(count: number): SampleOrder[] {
  const bodies = webhooks.flatMap((webhook) => webhook.examples)
  return Array.from({ length: count }, (_, index) => {
    const order = {
      orderId: `order-${String(index + 1).padStart(3, '0')}`,
      customer: ['Žofie Nováková', '山田 太郎', 'Ελένη', 'Åsa 🐎'][index % 4],
      ...(index === poisonIndex ? { currency: 'XXX' } : {}),
      webhook: bodies[(index * 7) % bodies.length],
    }
    return { orderId: order.orderId, body: Buffer.from(JSON.stringify(order)) }
  })
}
