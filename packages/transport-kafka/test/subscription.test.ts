import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import { isLiteBusError, type Delivery, type SubscriptionState } from '@litebus/core'
import { resolveKafkaOptions, type KafkaTransportOptions } from '../src/options.ts'
import { startKafkaSubscription } from '../src/subscription.ts'
import { fakeKafka } from './support/fake-kafka.ts'

const minute = 60_000

async function arrange({
  maxInFlight = 10,
  prefetch = 10,
  ...given
}: Partial<KafkaTransportOptions> & { maxInFlight?: number; prefetch?: number } = {}) {
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
  return { kafka, clock, subscription, deliveries, states, failures, ids, nth }
}

describe('a Kafka subscription', () => {
  it('commits where a new group starts, so that a record deleted before it was read is noticed', async () => {
    const { kafka } = await arrange()
    expect(kafka.commits[0]).toEqual([
      { partition: 0, offset: 0n, metadata: '' },
      { partition: 1, offset: 0n, metadata: '' },
    ])
  })

  it('holds a partition for a return of ten minutes while the other goes on, and keeps its order', async () => {
    const { kafka, clock, ids, nth } = await arrange({ maxInFlight: 1 })
    await kafka.fetch(0, [0, 1])
    expect(await nth(0).returnToQueue({ delayMs: 10 * minute })).toBe('settled')
    await kafka.fetch(1, [0])
    await nth(1).accept()
    await clock.advance(10 * minute - 1)
    expect(ids()).toEqual(['0-0', '1-0'])
    await clock.advance(1)
    expect(ids()).toEqual(['0-0', '1-0', '0-0'])
    expect(nth(2).redelivered).toBe(true)
    await nth(2).accept()
    await clock.advance(1)
    expect(ids().at(-1)).toBe('0-1')
  })

  it('carries attempt and first failure in the commit, and gives them to whoever goes on after a crash', async () => {
    const { kafka, clock, nth } = await arrange()
    const firstFailureAt = new Date(5000)
    await kafka.fetch(0, [0])
    const returned = nth(0).returnToQueue({ delayMs: 10 * minute, attempt: 3, firstFailureAt })
    await clock.advance(1)
    expect(await returned).toBe('settled')
    // The client loses its place in the group in the middle of the pause, and another session goes on.
    kafka.members[0]?.onEnded(new Error('crashed'))
    await clock.advance(minute)
    await kafka.fetch(0, [0])
    expect(nth(1)).toMatchObject({ redelivered: true, attempt: 3, firstFailureAt })
  })

  it('drops a pause with the assignment, and commits nothing for it afterwards', async () => {
    const { kafka, clock, subscription, ids, nth } = await arrange()
    await kafka.fetch(0, [0, 1])
    await nth(0).returnToQueue({ delayMs: minute })
    kafka.members[0]?.onRebalancing()
    expect(subscription.state).toBe('recovering')
    const before = kafka.commits.length
    expect(await nth(1).accept()).toBe('revoked')
    await clock.advance(10 * minute)
    expect([ids(), kafka.commits.length]).toEqual([['0-0', '0-1'], before])
    kafka.assign(1)
    await clock.advance(1)
    expect(subscription.state).toBe('consuming')
    expect(kafka.calls.at(-1)).toBe('resume 1')
  })

  it('commits what is finished before a rebalance takes the partitions away', async () => {
    const { kafka, clock, nth } = await arrange({ commitIntervalMs: minute })
    await kafka.fetch(0, [0, 1, 2])
    void nth(0).accept()
    void nth(2).accept()
    kafka.members[0]?.onRebalancing()
    await clock.advance(1)
    expect(kafka.commits.at(-1)).toEqual([{ partition: 0, offset: 1n, metadata: '' }])
  })

  it('revokes what was handed out when the connection is lost, and hands it out again when the broker answers', async () => {
    const { kafka, clock, states, ids, nth } = await arrange()
    await kafka.fetch(0, [0, 1])
    await nth(1).accept()
    kafka.members[0]?.onConnectionLost()
    expect(await nth(0).accept()).toBe('revoked')
    await clock.advance(minute)
    expect(ids()).toEqual(['0-0', '0-1'])
    kafka.members[0]?.onAnswer()
    await clock.advance(1)
    expect(ids()).toEqual(['0-0', '0-1', '0-0'])
    expect(states.slice(-2)).toEqual(['recovering', 'consuming'])
    const accepted = nth(2).accept()
    await clock.advance(1)
    expect(await accepted).toBe('settled')
    expect(kafka.committed.get(0)?.offset).toBe(2n)
  })

  it('takes no fetch that does not start where the partition goes on, and sends the client back there', async () => {
    const { kafka, ids } = await arrange()
    kafka.bounds.set(0, { first: 0n, end: 20n })
    await kafka.fetch(0, [5, 6])
    await kafka.fetch(0, [7])
    expect(ids()).toEqual([])
    expect(kafka.calls.filter((call) => call.startsWith('seek'))).toEqual(['seek 0 0', 'seek 0 0'])
    await kafka.fetch(0, [3, 4], 0)
    expect(ids()).toEqual(['0-3', '0-4'])
  })

  it('fails aloud when the log does not hold what is next, with its own place committed again', async () => {
    const { kafka, subscription, failures, ids } = await arrange()
    kafka.bounds.set(0, { first: 5n, end: 20n })
    await kafka.fetch(0, [5, 6])
    await kafka.fetch(0, [5, 6])
    expect(isLiteBusError(failures[0], 'TOPOLOGY_MISMATCH')).toBe(true)
    expect([subscription.state, ids()]).toEqual(['failed', []])
    expect(kafka.commits.at(-1)).toEqual([{ partition: 0, offset: 0n, metadata: '' }])
    expect(await subscription.stop({ budgetMs: 0 })).toEqual({ unsettled: 0 })
  })

  it('goes on at the first record that is left where the options say so', async () => {
    const { kafka, clock, subscription, ids } = await arrange({ onOffsetOutOfRange: 'earliest' })
    kafka.bounds.set(0, { first: 5n, end: 20n })
    await kafka.fetch(0, [5, 6])
    await kafka.fetch(0, [5, 6])
    await clock.advance(1)
    await kafka.fetch(0, [5, 6])
    expect([subscription.state, ids()]).toEqual(['consuming', ['0-5', '0-6']])
  })

  it('joins again when its client gives up', async () => {
    const { kafka, clock, subscription, states } = await arrange()
    kafka.members[0]?.onEnded(new Error('crashed'))
    await clock.advance(1)
    expect([kafka.members.length, subscription.state, states]).toEqual([
      2,
      'consuming',
      ['consuming', 'recovering', 'consuming'],
    ])
  })

  it('goes on trying to join, once at a time', async () => {
    const { kafka, clock, subscription } = await arrange()
    kafka.failingJoins = 3
    kafka.members[0]?.onEnded(new Error('crashed'))
    kafka.members[0]?.onEnded(new Error('crashed again'))
    await clock.advance(100)
    expect(subscription.state).toBe('recovering')
    await clock.advance(minute)
    expect([kafka.members.length, subscription.state]).toEqual([2, 'consuming'])
  })

  it('fails aloud when its topic stays away for the grace, and not before', async () => {
    const { kafka, clock, subscription, failures } = await arrange({ missingSourceGraceMs: minute })
    kafka.exists = false
    await clock.advance(minute)
    expect(subscription.state).toBe('consuming')
    await clock.advance(minute)
    expect(subscription.state).toBe('failed')
    expect(isLiteBusError(failures[0], 'TOPOLOGY_MISMATCH')).toBe(true)
    expect(kafka.members).toHaveLength(0)
  })

  it('stops fetching a partition whose records wait, without holding the fetch, and fetches it again', async () => {
    const { kafka, clock, nth } = await arrange({ maxInFlight: 1, prefetch: 2, fetchMaxWaitMs: 250 })
    const fetched = kafka.fetch(0, [0, 1, 2])
    await clock.advance(250)
    await fetched
    expect(kafka.calls.at(-1)).toBe('pause 0')
    for (const index of [0, 1]) {
      void nth(index).accept()
      await clock.advance(1)
    }
    expect(kafka.calls.at(-1)).toBe('resume 0')
  })

  it('commits what has no record, as control records do, when nothing before it is open', async () => {
    const { kafka, clock, nth } = await arrange()
    await kafka.fetch(0, [0])
    void nth(0).accept()
    await clock.advance(1)
    await kafka.members[0]?.onRecords({ partition: 0, askedFor: undefined, next: 4n, end: 4n, records: [] })
    await clock.advance(1)
    expect(kafka.committed.get(0)?.offset).toBe(4n)
  })

  it('leaves the group when it stops, with everything finished committed', async () => {
    const { kafka, clock, subscription, nth } = await arrange({ commitIntervalMs: minute })
    await kafka.fetch(1, [0, 1])
    void nth(0).accept()
    const stopping = subscription.stop({ budgetMs: 1000 })
    await clock.advance(1000)
    expect(await stopping).toEqual({ unsettled: 1 })
    expect([kafka.committed.get(1)?.offset, kafka.members.length]).toEqual([1n, 0])
    expect(await nth(1).accept()).toBe('revoked')
  })
})
