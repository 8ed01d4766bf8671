import { describe, expect, it } from '@jest/globals'
import { isLiteBusError } from '@litebus/core'
import { arrangeSubscription as arrange } from './support/arrange-subscription.ts'

describe('the place of a Kafka subscription in its log', () => {
  it('commits where a new group starts, so that a record deleted before it was read is noticed', async () => {
    const { kafka } = await arrange()
    expect(kafka.commits[0]).toEqual([
      { partition: 0, offset: 0n, metadata: '' },
      { partition: 1, offset: 0n, metadata: '' },
    ])
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

  it('commits what has no record, as control records do, when nothing before it is open', async () => {
    const { kafka, clock, nth } = await arrange()
    await kafka.fetch(0, [0])
    void nth(0).accept()
    await clock.advance(1)
    await kafka.members[0]?.onRecords({
      partition: 0,
      askedFor: undefined,
      first: 1n,
      next: 4n,
      end: 4n,
      records: [],
    })
    await clock.advance(1)
    expect(kafka.committed.get(0)?.offset).toBe(4n)
  })

  it('does not pass over records because of a fetch without any that began elsewhere', async () => {
    const { kafka, ids } = await arrange()
    kafka.bounds.set(0, { first: 0n, end: 20n })
    await kafka.members[0]?.onRecords({
      partition: 0,
      askedFor: undefined,
      first: 7n,
      next: 9n,
      end: 20n,
      records: [],
    })
    await kafka.fetch(0, [0, 1])
    expect(ids()).toEqual(['0-0', '0-1'])
  })

  it('believes a gap in the log only when the client has come over it again and again', async () => {
    const { kafka, ids } = await arrange()
    kafka.bounds.set(0, { first: 0n, end: 20n })
    for (let times = 0; times < 4; times += 1) {
      expect(ids()).toEqual([])
      await kafka.members[0]?.onRecords({
        partition: 0,
        askedFor: undefined,
        first: 7n,
        next: 9n,
        end: 20n,
        records: [],
      })
      await kafka.fetch(0, [9, 10])
    }
    expect(ids()).toEqual(['0-9', '0-10'])
  })
})
