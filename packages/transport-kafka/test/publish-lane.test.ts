import { describe, expect, it } from '@jest/globals'
import type { PublishOutcome } from '@litebus/core'
import { manualClock } from '@litebus/conformance'
import { WriteFailures, type ProducedRecord } from '../src/driver.ts'
import { ProducerUnavailable } from '../src/producers.ts'
import { createPublishLane, type KeyChain, type OutstandingPublish } from '../src/publish-lane.ts'

interface Write {
  readonly values: readonly string[]
  answer(error?: Error): void
}

/** A lane whose writes wait for the test. */
function arrange({ maxPartitionBytes = 1000, refused = 'REFUSED' } = {}) {
  const writes: Write[] = []
  const failures: unknown[] = []
  const outcomes: Record<string, PublishOutcome> = {}
  const lane = createPublishLane({
    write: (records) =>
      new Promise((resolve, reject) => {
        writes.push({
          values: records.map(({ value }) => Buffer.from(value ?? []).toString()),
          answer(error) {
            if (error === undefined) resolve()
            else reject(error)
          },
        })
      }),
    refusalOf: (error) =>
      (error as Error).message === refused ? { protocolError: 'MESSAGE_TOO_LARGE' } : undefined,
    onFailure: (error) => failures.push(error),
    maxPartitionBytes,
    maxMessages: 100,
    writeTimeoutMs: 1000,
    clock: manualClock(),
  })
  const add = (
    name: string,
    { partition = 0, bytes = 1, chain }: { partition?: number; bytes?: number; chain?: KeyChain } = {},
  ): OutstandingPublish => {
    const record: ProducedRecord = {
      partition,
      key: null,
      value: Buffer.from(name),
      headers: {},
    }
    const publish: OutstandingPublish = {
      record,
      bytes,
      chain,
      state: 'waiting',
      settle(outcome) {
        if (this.state === 'done') return
        this.state = 'done'
        if (outcome.status !== 'confirmed' && chain !== undefined) chain.broken = true
        outcomes[name] = outcome
      },
    }
    lane.add(publish)
    return publish
  }
  const status = (): Record<string, string> =>
    Object.fromEntries(Object.entries(outcomes).map(([name, outcome]) => [name, outcome.status]))
  return { lane, writes, failures, outcomes, add, status }
}

/** All promises that can settle now have settled. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

describe('a publish lane', () => {
  it('sends what came in one turn together, and gathers the next request meanwhile', async () => {
    const { add, writes, status } = arrange()
    add('a')
    add('b')
    await turn()
    add('c')
    add('d')
    await turn()
    expect(writes.map(({ values }) => values)).toEqual([['a', 'b']])
    writes[0]?.answer()
    await turn()
    expect(writes[1]?.values).toEqual(['c', 'd'])
    expect(status()).toEqual({ a: 'confirmed', b: 'confirmed' })
  })

  it('keeps a request within its bytes for each partition, without changing the order of one', async () => {
    const { add, writes } = arrange({ maxPartitionBytes: 10 })
    add('a', { bytes: 6 })
    add('other', { bytes: 6, partition: 1 })
    add('b', { bytes: 6 })
    add('larger than a request', { bytes: 600 })
    for (const expected of [['a', 'other'], ['b'], ['larger than a request']]) {
      await turn()
      expect(writes.at(-1)?.values).toEqual(expected)
      writes.at(-1)?.answer()
    }
  })

  it('calls a failed request ambiguous, and sends nothing of a key behind what was not confirmed', async () => {
    const { add, writes, status, failures } = arrange()
    const chain = { broken: false, closed: false }
    add('first', { chain })
    await turn()
    add('second', { chain })
    add('free')
    writes[0]?.answer(new Error('connection closed'))
    await turn()
    expect(writes[1]?.values).toEqual(['free'])
    expect(status()).toEqual({ first: 'ambiguous', second: 'unavailable' })
    expect(failures).toHaveLength(1)
  })

  it('calls it unavailable where no producer could be opened', async () => {
    const { add, writes, status } = arrange()
    add('a')
    await turn()
    writes[0]?.answer(new ProducerUnavailable('none'))
    await turn()
    expect(status()).toEqual({ a: 'unavailable' })
  })

  it('finds the message that makes a request refused, and confirms the others', async () => {
    const { lane, add, writes, outcomes, status } = arrange()
    for (const name of ['a', 'b', 'bad', 'c']) add(name)
    let answered = 0
    const answering = (async () => {
      for (;;) {
        await turn()
        const write = writes[answered]
        if (write === undefined) return
        answered += 1
        write.answer(write.values.includes('bad') ? new Error('REFUSED') : undefined)
      }
    })()
    await answering
    await lane.idle()
    expect(status()).toEqual({ a: 'confirmed', b: 'confirmed', bad: 'rejected', c: 'confirmed' })
    expect(outcomes['bad']).toMatchObject({ failure: { code: 'MESSAGE_TOO_LARGE' } })
  })

  it('does not take a refusal for an answer about one message where the request had several partitions', async () => {
    const { add, writes, status } = arrange()
    add('a')
    add('b', { partition: 1 })
    await turn()
    writes[0]?.answer(new Error('REFUSED'))
    await turn()
    expect(status()).toEqual({ a: 'ambiguous', b: 'ambiguous' })
    expect(writes).toHaveLength(1)
  })

  it('does not send what nobody waits for any more', async () => {
    const { add, writes } = arrange()
    add('a')
    await turn()
    add('given up').settle({
      status: 'unavailable',
      failure: { category: 'CANCELLED', code: 'PUBLISH_CANCELLED' },
    })
    add('b')
    writes[0]?.answer()
    await turn()
    expect(writes[1]?.values).toEqual(['b'])
  })

  it('answers each record for itself where the client tells them apart', async () => {
    const { add, writes, outcomes, status } = arrange()
    const key: KeyChain = { broken: false, closed: false }
    add('stored', { partition: 0 })
    add('refused', { partition: 1, chain: key })
    add('open', { partition: 2 })
    await turn()
    writes[0]?.answer(new WriteFailures([undefined, new Error('REFUSED'), new Error('timed out')]))
    await turn()
    expect(status()).toEqual({ stored: 'confirmed', refused: 'rejected', open: 'ambiguous' })
    expect(outcomes['refused']).toMatchObject({ failure: { code: 'MESSAGE_TOO_LARGE' } })
    expect([writes.length, key.broken]).toEqual([1, true])
  })

  it('looks for the one among the refused by halves, and leaves alone what its key holds back', async () => {
    const { add, writes, status } = arrange()
    const key: KeyChain = { broken: false, closed: false }
    for (const name of ['a', 'b', 'c']) add(name, { partition: 1 })
    add('open', { partition: 2, chain: key })
    add('behind', { partition: 1, chain: key })
    await turn()
    const refused = new Error('REFUSED')
    writes[0]?.answer(new WriteFailures([refused, refused, refused, new Error('timed out'), refused]))
    await turn()
    expect(writes[1]?.values).toEqual(['a', 'b'])
    writes[1]?.answer()
    await turn()
    expect(writes[2]?.values).toEqual(['c'])
    writes[2]?.answer(new WriteFailures([refused]))
    await turn()
    expect(status()).toEqual({
      a: 'confirmed',
      b: 'confirmed',
      c: 'rejected',
      open: 'ambiguous',
      behind: 'unavailable',
    })
    expect(writes).toHaveLength(3)
  })
})
