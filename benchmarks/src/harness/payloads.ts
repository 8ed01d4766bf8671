import { webhookBodies } from '@litebus/integration-tests/webhook-bodies'

/** Which bodies a benchmark uses. */
export type PayloadKind = 'small' | 'real'

const realBodies = webhookBodies.map((body) => JSON.stringify(body))
const small = JSON.stringify({ orderId: 'order-0000000', note: 'x'.repeat(300 - 41) })

/** A body of the kind: 300 bytes, or a real webhook body in turn (3 to 30 KB, 8 KB in the middle). */
export function payload(kind: PayloadKind, index: number): string {
  return kind === 'small' ? small : (realBodies[index % realBodies.length] ?? small)
}
