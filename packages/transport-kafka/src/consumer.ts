import { checkOptions, OptionsError, type TransportConsumer } from '@litebus/core'
import type { KafkaDriver } from './driver.ts'
import { closedTransport } from './errors.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import { startKafkaSubscription, type KafkaSubscription } from './subscription.ts'

/** What a consumer works with. */
export interface KafkaConsumerSetup {
  /** Options of the transport. */
  readonly options: ResolvedKafkaOptions
  /** Kafka. */
  readonly driver: KafkaDriver
  /** What is subscribed, for `close`. */
  readonly running: Set<KafkaSubscription>
  /** True once the transport was closed. */
  readonly isClosed: () => boolean
}

/** Consumes as a member of a group. */
export function createKafkaConsumer({
  options,
  driver,
  running,
  isClosed,
}: KafkaConsumerSetup): TransportConsumer {
  return {
    async subscribe(request, onDelivery) {
      if (isClosed()) throw closedTransport()
      const { source } = request
      const group = typeof options.groupId === 'function' ? options.groupId(source) : options.groupId
      const checks = checkOptions()
      checks.text('source', source)
      checks.integer('maxInFlight', request.maxInFlight, { min: 1 })
      checks.integer('prefetch', request.prefetch ?? request.maxInFlight, { min: 1 })
      checks.text('groupId of the transport', group)
      const other = [...running].find((one) => one.group === group && one.source !== source)
      checks.that(
        other === undefined,
        `expected one topic in group ${String(group)}, found ${source} beside ${String(other?.source)}: ` +
          'members of a group get partitions of topics that they do not consume; make groupId a function of the topic',
      )
      if (checks.faults.length > 0 || group === undefined) throw new OptionsError('subscribe', checks.faults)
      const subscription = await startKafkaSubscription({ options, driver, request, group, onDelivery })
      if (isClosed()) {
        await subscription.stop({ budgetMs: 0 })
        throw closedTransport()
      }
      running.add(subscription)
      subscription.ended.addEventListener('abort', () => running.delete(subscription), { once: true })
      return subscription
    },
  }
}
