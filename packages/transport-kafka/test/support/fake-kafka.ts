import type {
  FetchedRecord,
  KafkaDriver,
  MembershipEvents,
  OffsetToCommit,
  ProducedRecord,
} from '../../src/driver.ts'

/** A Kafka of one topic that does what a test says, for what a real one cannot be made to do on demand. */
export interface FakeKafka extends KafkaDriver {
  /** Commits in their order; each waits for the test where `holdCommits` is set. */
  readonly commits: (readonly OffsetToCommit[])[]
  /** Members that joined and have not left. */
  readonly members: MembershipEvents[]
  /** Seeks, pauses and resumes in their order. */
  readonly calls: string[]
  /** What the group has committed. */
  readonly committed: Map<number, { readonly offset: bigint; readonly metadata: string }>
  /** What the topic holds. */
  readonly bounds: Map<number, { first: bigint; end: bigint }>
  /** Writes in their order. */
  readonly writes: (readonly ProducedRecord[])[]
  /** What the next commit rejects with. */
  commitError: Error | undefined
  /** How many of the next attempts to join fail. */
  failingJoins: number
  /** Writes are not answered. */
  holdWrites: boolean
  /** False: the topic does not exist. */
  exists: boolean
  /** The last member is given partitions. */
  assign(...partitions: number[]): void
  /** A fetch brings records with these offsets. */
  fetch(partition: number, offsets: readonly number[], askedFor?: number): Promise<void>
}

/** Two partitions, empty, without a committed offset; members are assigned both when they join. */
export function fakeKafka(): FakeKafka {
  const commits: FakeKafka['commits'] = []
  const members: MembershipEvents[] = []
  const calls: string[] = []
  const committed: FakeKafka['committed'] = new Map()
  const bounds: FakeKafka['bounds'] = new Map([0, 1].map((partition) => [partition, { first: 0n, end: 0n }]))
  const last = (): MembershipEvents => {
    const member = members.at(-1)
    if (member === undefined) throw new Error('expected a member of the group, found none')
    return member
  }
  const fake: FakeKafka = {
    commits,
    members,
    calls,
    committed,
    bounds,
    writes: [],
    commitError: undefined,
    failingJoins: 0,
    holdWrites: false,
    exists: true,
    assign(...partitions) {
      last().onAssigned(partitions)
    },
    fetch(partition, offsets, askedFor = offsets[0] ?? 0) {
      const next = BigInt((offsets.at(-1) ?? askedFor - 1) + 1)
      return last().onRecords({
        partition,
        askedFor: BigInt(askedFor),
        first: offsets[0] === undefined ? undefined : BigInt(offsets[0]),
        next,
        end: next,
        records: offsets.map((offset) => recordAt(offset)),
      })
    },
    openProducer: () =>
      Promise.resolve({
        write: async (_topic: string, records: readonly ProducedRecord[]) => {
          fake.writes.push(records)
          if (fake.holdWrites) await new Promise(() => undefined)
        },
        close: () => Promise.resolve(),
      }),
    async join(_request, events) {
      await Promise.resolve()
      fake.failingJoins -= 1
      if (fake.failingJoins >= 0) throw new Error('not now')
      members.push(events)
      events.onAssigned([0, 1])
      return {
        async commit(offsets) {
          commits.push(offsets)
          await Promise.resolve()
          if (fake.commitError !== undefined) throw fake.commitError
          for (const { partition, offset, metadata } of offsets)
            committed.set(partition, { offset, metadata })
        },
        seek: (partition, offset) => calls.push(`seek ${String(partition)} ${String(offset)}`),
        pause: (partitions) => calls.push(`pause ${partitions.join(' ')}`),
        resume: (partitions) => calls.push(`resume ${partitions.join(' ')}`),
        leave() {
          members.splice(members.indexOf(events), 1)
          return Promise.resolve()
        },
      }
    },
    describeTopic: () =>
      Promise.resolve(
        fake.exists ? [...bounds.keys()].map((partition) => ({ partition, leader: 1 })) : undefined,
      ),
    committedOffsets: () => Promise.resolve(new Map(committed)),
    offsetBounds: () => Promise.resolve(new Map(bounds)),
    refusalOf: () => undefined,
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  return fake
}

function recordAt(offset: number): FetchedRecord {
  return {
    offset: BigInt(offset),
    key: null,
    value: Buffer.from(String(offset)),
    headers: {},
    timestampMs: undefined,
  }
}
