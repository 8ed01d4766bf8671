import { closedTransport, missingQueue, unreachable } from './errors.ts'
import type { MemoryConnection } from './connection.ts'
import type { ResolvedMemoryOptions } from './options.ts'
import { createMemorySubscription, type MemorySubscription } from './subscription.ts'
import { checkOptions, OptionsError, type TransportConsumer } from '@litebus/core'

/** Consumes from the broker; `running` holds what is subscribed, for `close`. */
export function createMemoryConsumer(
  options: ResolvedMemoryOptions,
  connection: MemoryConnection,
  running: Set<MemorySubscription>,
): TransportConsumer {
  return {
    async subscribe(request, onDelivery) {
      const checks = checkOptions()
      checks.integer('maxInFlight', request.maxInFlight, { min: 1 })
      checks.integer('prefetch', request.prefetch ?? request.maxInFlight, { min: 1, max: 65_535 })
      if (checks.faults.length > 0) throw new OptionsError('subscribe', checks.faults)
      if (connection.closed) throw closedTransport()
      if (connection.current() === undefined) throw unreachable()
      if (options.broker.internals.queue(request.source) === undefined) throw missingQueue(request.source)
      const subscription = createMemorySubscription({ options, connection, request, onDelivery })
      running.add(subscription)
      subscription.over.addEventListener('abort', () => running.delete(subscription), { once: true })
      await Promise.resolve()
      return subscription
    },
  }
}
