import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import { createCommitter } from '../src/committer.ts'
import type { OffsetToCommit } from '../src/driver.ts'
import { createPartitionProgress } from '../src/partition-progress.ts'

function arrange({ count = 100 } = {}) {
  const clock = manualClock()
  const commits: { readonly offsets: readonly OffsetToCommit[]; readonly answer: (error?: Error) => void }[] =
    []
  const progress = createPartitionProgress({ offset: 0n, isCommitted: true })
  progress.fetched(
    Array.from({ length: 20 }, (_, offset) => BigInt(offset)),
    20n,
  )
  const failures: unknown[] = []
  const committer = createCommitter({
    membership: {
      commit: (offsets) =>
        new Promise((resolve, reject) => {
          commits.push({
            offsets,
            answer(error) {
              if (error === undefined) resolve()
              else reject(error)
            },
          })
        }),
    },
    partitions: new Map([[3, progress]]),
    intervalMs: 100,
    count,
    pauseMs: () => 1000,
    onFailure: (error) => failures.push(error),
    clock,
  })
  const finish = (offset: number) => {
    progress.finish(BigInt(offset))
    return committer.request()
  }
  return { clock, commits, progress, failures, committer, finish }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

describe('a committer', () => {
  it('commits what finished in one turn with one request, and answers when the broker has', async () => {
    const { commits, finish } = arrange()
    const results: string[] = []
    for (const offset of [0, 1, 2]) void finish(offset).then((result) => results.push(result))
    await turn()
    expect(commits.map(({ offsets }) => offsets)).toEqual([[{ partition: 3, offset: 3n, metadata: '' }]])
    expect(results).toEqual([])
    commits[0]?.answer()
    await turn()
    expect(results).toEqual(['settled', 'settled', 'settled'])
  })

  it('keeps its interval between two commits, unless so many wait that it is not worth it', async () => {
    const { clock, commits, finish } = arrange({ count: 2 })
    void finish(0)
    await turn()
    commits[0]?.answer()
    await turn()
    void finish(1)
    await turn()
    expect(commits).toHaveLength(1)
    void finish(2)
    await turn()
    expect(commits[1]?.offsets).toMatchObject([{ offset: 3n }])
    commits[1]?.answer()
    await turn()
    void finish(3)
    await turn()
    expect(commits).toHaveLength(2)
    await clock.advance(100)
    await turn()
    expect(commits[2]?.offsets).toMatchObject([{ offset: 4n }])
  })

  it('tries a failed commit again while its assignment stands, and answers then', async () => {
    const { clock, commits, failures, finish } = arrange()
    const result = finish(0)
    await turn()
    commits[0]?.answer(new Error('lost'))
    await turn()
    await clock.advance(1000)
    await turn()
    commits[1]?.answer()
    expect(await result).toBe('settled')
    expect(failures).toHaveLength(1)
  })

  it('tries at once when more comes to a commit that failed and was full', async () => {
    const { commits, finish } = arrange({ count: 2 })
    const results = [finish(0), finish(1), finish(2)]
    await turn()
    commits[0]?.answer(new Error('lost'))
    await turn()
    results.push(finish(3))
    await turn()
    expect(commits[1]?.offsets).toMatchObject([{ offset: 4n }])
    commits[1]?.answer()
    expect(await Promise.all(results)).toEqual(['settled', 'settled', 'settled', 'settled'])
  })

  it('commits nothing once its assignment is over, and answers unknown', async () => {
    const { clock, commits, committer, finish, failures } = arrange()
    const underWay = finish(0)
    await turn()
    const waiting = finish(1)
    committer.end()
    expect(await waiting).toBe('unknown')
    commits[0]?.answer(new Error('not a member'))
    expect(await underWay).toBe('unknown')
    expect(await finish(2)).toBe('unknown')
    committer.touch()
    await clock.advance(10_000)
    await turn()
    expect([commits.length, failures.length]).toEqual([1, 0])
  })

  it('flushes at once, without waiting for its interval', async () => {
    const { commits, committer, finish } = arrange()
    void finish(0)
    await turn()
    commits[0]?.answer()
    await turn()
    void finish(1)
    const flushed = committer.flush()
    expect(commits[1]?.offsets).toMatchObject([{ offset: 2n }])
    commits[1]?.answer()
    await flushed
  })
})
