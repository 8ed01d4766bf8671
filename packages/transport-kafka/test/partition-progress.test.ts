import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { readCommitMetadata, writeCommitMetadata } from '../src/commit-metadata.ts'
import { createPartitionProgress } from '../src/partition-progress.ts'

const start = { offset: 10n, isCommitted: true }

describe('the progress of a partition', () => {
  it('commits the last finished offset plus one, and never past a record that is not finished', () => {
    const progress = createPartitionProgress(start)
    progress.fetched([10n, 11n, 12n], 13n)
    expect(progress.finish(11n)).toBe(false)
    expect(progress.committable).toBe(10n)
    expect(progress.finish(10n)).toBe(true)
    expect(progress.committable).toBe(12n)
    progress.finish(12n)
    expect(progress.commitPoint().offset).toBe(13n)
  })

  it('counts offsets that hold no record as finished, but only those behind nothing open', () => {
    const progress = createPartitionProgress(start)
    progress.fetched([12n, 15n], 20n)
    expect(progress.committable).toBe(12n)
    progress.finish(12n)
    expect(progress.committable).toBe(15n)
    progress.finish(15n)
    expect(progress.committable).toBe(20n)
    progress.fetched([], 25n)
    expect(progress.committable).toBe(25n)
  })

  it('has something to commit at a start without a committed offset, and nothing after the confirmation', () => {
    const progress = createPartitionProgress({ offset: 10n, isCommitted: false })
    expect(progress.dirty).toBe(true)
    progress.confirmed(progress.commitPoint())
    expect([progress.dirty, progress.committed]).toEqual([false, 10n])
  })

  it('keeps what finished while a commit was under way for the next one', () => {
    const progress = createPartitionProgress(start)
    progress.fetched([10n, 11n], 12n)
    progress.finish(10n)
    const point = progress.commitPoint()
    progress.finish(11n)
    progress.confirmed(point)
    expect([progress.committed, progress.dirty]).toEqual([11n, true])
  })

  it('carries the retries of open records, and drops them with the record', () => {
    const progress = createPartitionProgress(start)
    progress.fetched([10n, 11n], 12n)
    progress.returned(11n, { attempt: 2 })
    progress.returned(10n, { attempt: 1, firstFailureAtMs: 5 })
    expect([...progress.commitPoint().retries.keys()].sort()).toEqual([10n, 11n])
    progress.finish(10n)
    expect([...progress.commitPoint().retries]).toEqual([[11n, { attempt: 2 }]])
    expect(progress.retryOf(11n)).toEqual({ attempt: 2 })
  })

  it('has something to commit when only a retry changed, until that is confirmed', () => {
    const progress = createPartitionProgress(start)
    progress.fetched([10n], 11n)
    progress.returned(10n, { attempt: 1 })
    expect(progress.dirty).toBe(true)
    const point = progress.commitPoint()
    progress.returned(10n, { attempt: 2 })
    progress.confirmed(point)
    expect(progress.dirty).toBe(true)
    progress.confirmed(progress.commitPoint())
    expect(progress.dirty).toBe(false)
  })

  it('starts with the retries of the committed offset', () => {
    const progress = createPartitionProgress({ ...start, retries: new Map([[10n, { attempt: 3 }]]) })
    expect(progress.retryOf(10n)).toEqual({ attempt: 3 })
    expect(progress.dirty).toBe(false)
  })

  it('never passes an open record, loses none and forgets none, in whatever order they finish', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(gaps, fc.infiniteStream(fc.nat()), (steps, choices) => {
        const progress = createPartitionProgress({ offset: 0n, isCommitted: true })
        const open = new Set<bigint>()
        let next = 0n
        const finishOne = (): void => {
          const offsets = [...open]
          const chosen = offsets[(choices.next().value ?? 0) % offsets.length]
          if (chosen === undefined) return
          open.delete(chosen)
          const isDone = progress.finish(chosen)
          expect(isDone).toBe([...open].every((other) => other > chosen))
        }
        for (const step of steps) {
          const offset = next + BigInt(step - 1)
          next = offset + 1n
          progress.fetched([offset], next)
          open.add(offset)
          if ((choices.next().value ?? 0) % 2 === 0) finishOne()
          const lowest = [...open].reduce((low, one) => (one < low ? one : low), next)
          expect(progress.committable).toBe(lowest)
        }
        while (open.size > 0) finishOne()
        expect(progress.commitPoint()).toMatchObject({ offset: next })
      }),
    )
  })
})

describe('the metadata of a commit', () => {
  it('brings back what it was written with', () => {
    const retry = fc.record(
      { attempt: fc.nat(), firstFailureAtMs: fc.integer({ min: 1, max: 8.64e15 }) },
      { requiredKeys: ['attempt'] },
    )
    const retries = fc.uniqueArray(fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 62n }), retry), {
      maxLength: 40,
      selector: ([offset]) => offset,
    })
    fc.assert(
      fc.property(retries, (entries) => {
        const text = writeCommitMetadata(new Map(entries))
        expect(new Map(readCommitMetadata(text))).toEqual(new Map(entries))
      }),
    )
  })

  it('stays within what the broker takes, the lowest offsets first', () => {
    const many = Array.from(
      { length: 500 },
      (_, index): [bigint, { attempt: number; firstFailureAtMs: number }] => [
        2n ** 62n - BigInt(index),
        { attempt: 2 ** 31, firstFailureAtMs: Date.now() },
      ],
    )
    const text = writeCommitMetadata(new Map(many))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096)
    expect(readCommitMetadata(text).has(2n ** 62n - 499n)).toBe(true)
  })

  it.each([
    '',
    'what another program wrote',
    '{"litebus":1,',
    '{"litebus":1,"retries":7}',
    '{"litebus":1,"retries":[7,["x",1,0],["5",-1,0],["5","1",0],[]]}',
  ])('is nothing where it cannot be read: %s', (text) => {
    expect(readCommitMetadata(text).size).toBe(0)
  })
})
