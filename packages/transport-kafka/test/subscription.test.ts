import { describe, expect, it } from '@jest/globals'
import { isLiteBusError } from '@litebus/core'
import { arrangeSubscription as arrange } from './support/arrange-subscription.ts'

const minute = 60_000

describe('a Kafka subscription', () => {
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
    await kafka.members[0]?.onRebalancing()
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
    const { kafka, nth } = await arrange({ commitIntervalMs: minute })
    await kafka.fetch(0, [0, 1, 2])
    void nth(0).accept()
    void nth(2).accept()
    await kafka.members[0]?.onRebalancing()
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
