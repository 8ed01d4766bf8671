import type { Transport } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'

/** The broker in memory, or a real one. A real one holds the queue until it is unused. */
export function openBroker(url: string | undefined, queue: string): Transport {
  if (url === undefined) {
    return memoryTransport({ broker: memoryBroker({ queues: [{ name: queue }] }) })
  }
  return amqpTransport({
    url,
    topology: { queues: [{ name: queue, kind: 'classic', expiresMs: 60_000 }] },
  })
}
