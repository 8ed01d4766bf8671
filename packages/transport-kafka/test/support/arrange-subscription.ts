import { manualClock, type ManualClock } from '@litebus/conformance'
import type { Delivery, Subscription, SubscriptionState } from '@litebus/core'
import { resolveKafkaOptions, type KafkaTransportOptions } from '../../src/options.ts'
import { startKafkaSubscription } from '../../src/subscription.ts'
import { fakeKafka, type FakeKafka } from './fake-kafka.ts'

/** A subscription to a Kafka that does what a test says, with all that it was handed. */
export interface ArrangedSubscription {
  readonly kafka: FakeKafka
  readonly clock: ManualClock
  readonly subscription: Subscription
  readonly states: readonly SubscriptionState[]
  readonly failures: readonly unknown[]
  /** Partition and offset of each delivery. */
  readonly ids: () => string[]
  readonly nth: (index: number) => Delivery
}

/** Subscribes to topic `topic` in group `group`. */
export async function arrangeSubscription({
  maxInFlight = 10,
  prefetch = 10,
  ...given
}: Partial<KafkaTransportOptions> & {
  maxInFlight?: number
  prefetch?: number
} = {}): Promise<ArrangedSubscription> {
  const kafka = fakeKafka()
  const clock = manualClock()
  const deliveries: Delivery[] = []
  const states: SubscriptionState[] = []
  const failures: unknown[] = []
  const options = resolveKafkaOptions({
    brokers: 'fake:9092',
    commitIntervalMs: 0,
    clock,
    random: () => 0.5,
    ...given,
  })
  const subscription = await startKafkaSubscription({
    options,
    driver: kafka,
    group: 'group',
    request: {
      source: 'topic',
      maxInFlight,
      prefetch,
      onStateChange: (state) => states.push(state),
      onFailure: (error) => failures.push(error),
    },
    onDelivery: (delivery) => deliveries.push(delivery),
  })
  await clock.advance(1)
  const ids = (): string[] => deliveries.map(({ deliveryId = '' }) => deliveryId.replace('topic-', ''))
  const nth = (index: number): Delivery => {
    const delivery = deliveries[index]
    if (delivery === undefined)
      throw new Error(`expected delivery ${String(index)}, found ${ids().join(', ')}`)
    return delivery
  }
  return { kafka, clock, subscription, states, failures, ids, nth }
}
