import type { Transport } from '@litebus/core'
import { memoryCapabilities } from './capabilities.ts'
import { createMemoryConnection } from './connection.ts'
import { createMemoryConsumer } from './consumer.ts'
import { closedTransport, missingQueue, unreachable } from './errors.ts'
import { resolveMemoryOptions, type MemoryTransportOptions } from './options.ts'
import { createMemoryPublisher } from './publisher.ts'
import type { MemorySubscription } from './subscription.ts'

/**
 * Connects to a broker in memory.
 *
 * @throws OptionsError naming every wrong option.
 */
export function memoryTransport(given: MemoryTransportOptions): Transport {
  const options = resolveMemoryOptions(given)
  const connection = createMemoryConnection(options)
  const running = new Set<MemorySubscription>()
  const close = async (): Promise<void> => {
    await Promise.all([...running].map((subscription) => subscription.stop({ budgetMs: 0 })))
    connection.close()
  }
  return {
    system: 'inmemory',
    capabilitiesOf: (destination) => memoryCapabilities(options, destination),
    readerOf: (queue) => JSON.stringify(['inmemory', queue]),
    publisher: createMemoryPublisher(options, connection),
    consumer: createMemoryConsumer(options, connection, running),
    async probe(destination) {
      await Promise.resolve()
      if (connection.closed) throw closedTransport()
      if (connection.current() === undefined) throw unreachable()
      if (destination !== undefined && !options.broker.internals.knows(destination))
        throw missingQueue(destination)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
