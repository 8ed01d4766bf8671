import { describe, expect, it } from '@jest/globals'
import { manualClock, type ManualClock } from '@litebus/conformance'
import type { ConfluentBatchPayload, ConfluentConsumer } from '../../src/confluent/client-shape.ts'
import { joinGroup, type ConsumerListeners } from '../../src/confluent/membership.ts'
import type { FetchedBatch, KafkaMembership } from '../../src/driver.ts'

const assign = { code: -175 }
const revoke = { code: -174 }

interface Arranged {
  readonly clock: ManualClock
  /** What happened, in order. */
  readonly log: string[]
  readonly batches: FetchedBatch[]
  readonly membership: KafkaMembership
  readonly listeners: ConsumerListeners
  /** The member has something to commit when the group is assigned anew, which takes until this is settled. */
  committing: Promise<void>
  /** The client hands over records. */
  readonly bring: (offsets: readonly string[], isStale?: boolean) => Promise<void>
  readonly rebalance: (kind: { readonly code: number }, ...partitions: number[]) => Promise<void>
}

async function arrange(protocol: 'EAGER' | 'COOPERATIVE' = 'EAGER'): Promise<Arranged> {
  const clock = manualClock()
  const log: string[] = []
  const batches: FetchedBatch[] = []
  let listeners: ConsumerListeners | undefined
  let eachBatch: (payload: ConfluentBatchPayload) => Promise<void> = () => Promise.resolve()
  const say =
    (name: string) =>
    (...values: readonly unknown[]): Promise<void> => {
      log.push([name, ...values.map((value) => JSON.stringify(value))].join(' '))
      return Promise.resolve()
    }
  const consumer: ConfluentConsumer = {
    connect: say('connect'),
    disconnect: say('disconnect'),
    subscribe: say('subscribe'),
    run(config) {
      eachBatch = config.eachBatch as typeof eachBatch
      return Promise.resolve()
    },
    commitOffsets: say('commit'),
    committed: (partitions) =>
      Promise.resolve(partitions.map((one) => ({ ...one, offset: one.partition === 0 ? '7' : '-1001' }))),
    rebalanceProtocol: () => protocol,
    seek: ({ partition, offset }) => void log.push(`seek ${String(partition)} ${offset}`),
    pause: say('pause'),
    resume: say('resume'),
  }
  const arranged = { committing: Promise.resolve() }
  const membership = await joinGroup({
    request: { group: 'g', topic: 't' },
    clock,
    patienceMs: 5000,
    makeConsumer(given) {
      listeners = given
      return consumer
    },
    events: {
      onAssigned: (partitions) => log.push(`assigned ${partitions.join(' ')}`),
      async onRebalancing() {
        log.push('rebalancing')
        await arranged.committing
        log.push('committed')
      },
      onRecords(batch) {
        batches.push(batch)
        return Promise.resolve()
      },
      onAnswer: () => log.push('answer'),
      onConnectionLost: () => log.push('lost'),
      onEnded: (error) => log.push(`ended ${String(error)}`),
    },
  })
  if (listeners === undefined) throw new Error('expected a consumer to be made')
  const { onRebalance } = listeners
  log.length = 0
  return Object.assign(arranged, {
    clock,
    log,
    batches,
    membership,
    listeners,
    bring: (offsets: readonly string[], isStale = false) =>
      eachBatch({
        isStale: () => isStale,
        resolveOffset: (offset) => void log.push(`resolved ${offset}`),
        batch: {
          topic: 't',
          partition: 0,
          highWatermark: '20',
          messages: offsets.map((offset) => ({ offset, value: null, timestamp: '', headers: {} })),
          lastOffset: () => offsets.at(-1) ?? '',
        },
      }),
    rebalance: (kind: { readonly code: number }, ...partitions: number[]) =>
      onRebalance(kind, [
        ...partitions.map((partition) => ({ topic: 't', partition })),
        { topic: 'other', partition: 0 },
      ]),
  })
}

describe("a member of a group over Confluent's client", () => {
  it('holds up a rebalance until what is finished is committed', async () => {
    const arranged = await arrange()
    const { log, rebalance } = arranged
    await rebalance(assign, 0, 1)
    const { promise, resolve } = Promise.withResolvers<undefined>()
    arranged.committing = promise
    log.length = 0
    const revoked = rebalance(revoke, 0, 1).then(() => log.push('revoked'))
    await Promise.resolve()
    expect(log).toEqual(['rebalancing'])
    resolve(undefined)
    await revoked
    expect(log).toEqual(['rebalancing', 'committed', 'revoked'])
  })

  it('does not hold it up for longer than its patience', async () => {
    const arranged = await arrange()
    const { clock, log, rebalance } = arranged
    arranged.committing = new Promise(() => undefined)
    const revoked = rebalance(revoke, 0)
    await clock.advance(5000)
    await revoked
    expect(log).toEqual(['rebalancing'])
  })

  it('has the partitions of the last assignment, and none of those before', async () => {
    const { log, rebalance } = await arrange()
    await rebalance(assign, 0, 1)
    await rebalance(revoke, 0, 1)
    await rebalance(assign, 2)
    expect(log.filter((line) => line.startsWith('assigned'))).toEqual(['assigned 0 1', 'assigned 2'])
  })

  it('goes on with what a cooperative rebalance leaves and brings, from what is committed', async () => {
    const { log, rebalance } = await arrange('COOPERATIVE')
    await rebalance(assign, 0, 1, 2)
    log.length = 0
    await rebalance(revoke, 2)
    expect(log).toEqual(['rebalancing', 'committed', 'seek 0 7', 'seek 1 -2', 'assigned 0 1'])
    log.length = 0
    await rebalance(assign, 3)
    expect(log).toEqual(['rebalancing', 'committed', 'seek 0 7', 'seek 1 -2', 'assigned 0 1 3'])
  })

  it('takes over what it is brought before it is handled, so that a pause does not bring it again', async () => {
    const { batches, bring, log } = await arrange()
    await bring(['4', '5'])
    expect(log).toEqual(['resolved 5'])
    expect(batches).toMatchObject([{ partition: 0, askedFor: undefined, first: 4n, next: 6n, end: 20n }])
    expect(batches[0]?.records.map(({ offset, timestampMs }) => [offset, timestampMs])).toEqual([
      [4n, undefined],
      [5n, undefined],
    ])
    await bring(['6'], true)
    expect([log, batches.length]).toEqual([['resolved 5'], 1])
  })

  it('resumes what it has paused and was not taken away, and nothing else', async () => {
    const { log, membership, rebalance } = await arrange()
    await rebalance(assign, 0, 1)
    membership.pause([0, 1])
    log.length = 0
    membership.resume([0, 2])
    membership.resume([0])
    expect(log).toEqual(['resume [{"topic":"t","partitions":[0]}]'])
    await rebalance(assign, 0)
    log.length = 0
    membership.resume([1])
    expect(log).toEqual([])
  })

  it('ends aloud, once, with what the client cannot recover from', async () => {
    const { listeners, log, rebalance, bring } = await arrange()
    listeners.onError('broker transport failure')
    expect(log).toEqual([])
    listeners.onError('Local: Fatal error: the instance was fenced')
    listeners.onError('Local: Fatal error: the instance was fenced')
    expect(log).toEqual(['disconnect', 'ended Error: Local: Fatal error: the instance was fenced'])
    await rebalance(revoke, 0)
    await bring(['1'])
    expect(log).toHaveLength(2)
  })
})
