import type { Transport } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'
import { within } from './within.ts'

/** How long a real broker may take to answer. */
const answerMs = 10_000

/**
 * The broker in memory, or a real one. A real one holds the queue until it is unused.
 *
 * @throws Error when the broker does not answer or refuses the log-in, before anything is sent.
 */
export async function openBroker(url: string | undefined, queue: string): Promise<Transport> {
  if (url === undefined) {
    return memoryTransport({ broker: memoryBroker({ queues: [{ name: queue }] }) })
  }
  const broker = amqpTransport({
    url,
    topology: { queues: [{ name: queue, kind: 'classic', expiresMs: 60_000 }] },
    connectTimeoutMs: answerMs,
  })
  try {
    await within(answerMs, 'the broker of --broker to answer', broker.probe(queue))
    return broker
  } catch (error) {
    await broker.close()
    throw error
  }
}
