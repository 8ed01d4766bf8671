import { checkOptions, OptionsError, type TransportConsumer } from '@litebus/core'
import type { AmqpConnection } from './connection.ts'
import type { ResolvedAmqpOptions } from './options.ts'
import { startAmqpSubscription, type AmqpSubscription } from './subscription.ts'

/** Consumes; `running` holds what is subscribed, for `close`. */
export function createAmqpConsumer(
  options: ResolvedAmqpOptions,
  connection: AmqpConnection,
  running: Set<AmqpSubscription>,
): TransportConsumer {
  return {
    async subscribe(request, onDelivery) {
      const checks = checkOptions()
      checks.text('source', request.source)
      checks.integer('maxInFlight', request.maxInFlight, { min: 1 })
      // The protocol has 16 bits for it, and 0 means no limit there.
      const prefetch = request.prefetch ?? Math.min(request.maxInFlight, 65_535)
      checks.integer('prefetch', prefetch, { min: 1, max: 65_535 })
      if (checks.faults.length > 0) throw new OptionsError('subscribe', checks.faults)
      const subscription = await startAmqpSubscription({
        options,
        connection,
        request: { ...request, prefetch },
        onDelivery,
      })
      running.add(subscription)
      subscription.ended.addEventListener('abort', () => running.delete(subscription), { once: true })
      return subscription
    },
  }
}
