import { webhookBodies } from '@litebus/integration-tests/webhook-bodies'

/** An order as a client would send it: its bytes, and what is in them. */
export interface SampleOrder {
  /** Id of the order. */
  readonly orderId: string
  /** The JSON bytes. */
  readonly body: Buffer
}

/** Which order cannot be handled by the first version of the worker. */
const poisonIndex = 7

/** Orders around real webhook bodies, up to tens of kilobytes, with customers beyond ASCII. */
export function sampleOrders(count: number): SampleOrder[] {
  return Array.from({ length: count }, (_, index) => {
    const order = {
      orderId: `order-${String(index + 1).padStart(3, '0')}`,
      customer: ['Žofie Nováková', '山田 太郎', 'Ελένη', 'Åsa 🐎'][index % 4],
      ...(index === poisonIndex ? { currency: 'XTS' } : {}),
      webhook: webhookBodies[(index * 7) % webhookBodies.length],
    }
    return { orderId: order.orderId, body: Buffer.from(JSON.stringify(order)) }
  })
}
