import examples from '@octokit/webhooks-examples' with { type: 'json' }

/** An order as a client would send it: its bytes, and what is in them. */
export interface SampleOrder {
  /** Id of the order. */
  readonly orderId: string
  /** The JSON bytes. */
  readonly body: Buffer
  /** True for the order that the first version of the worker cannot handle. */
  readonly poison: boolean
}

/** Orders around real webhook bodies, up to tens of kilobytes, some of them with text beyond ASCII. */
export function sampleOrders(count: number): SampleOrder[] {
  const bodies = examples.flatMap((webhook) => webhook.examples)
  return Array.from({ length: count }, (_, index) => {
    const poison = index === 7
    const order = {
      orderId: `order-${String(index + 1).padStart(3, '0')}`,
      customer: ['Žofie Nováková', '山田 太郎', 'Ελένη', 'Åsa 🐎'][index % 4],
      ...(poison ? { currency: 'XXX' } : {}),
      webhook: bodies[(index * 7) % bodies.length],
    }
    return { orderId: order.orderId, body: Buffer.from(JSON.stringify(order)), poison }
  })
}
