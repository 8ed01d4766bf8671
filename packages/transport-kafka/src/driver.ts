/**
 * What this adapter needs of Kafka, in its own terms: a client that can do this can stand behind the transport. There
 * is one for KafkaJS in `kafkajs/`, and one for `@confluentinc/kafka-javascript` in `confluent/`.
 */

/** A record to be written. */
export interface ProducedRecord {
  /** Partition that it goes to. */
  readonly partition: number
  /** Key, or null. */
  readonly key: Uint8Array | null
  /** Value; null is a tombstone. */
  readonly value: Uint8Array | null
  /** Headers, to be written in UTF-8. */
  readonly headers: Readonly<Record<string, string>>
}

/** Why the broker refused a request; the only failure of a write after which it is certain that nothing was stored. */
export interface BrokerRefusal {
  /** Name of the error in the protocol, such as `MESSAGE_TOO_LARGE`. */
  readonly protocolError: string
}

/** What a write rejects with where the client tells what became of each record. */
export class WriteFailures extends Error {
  override readonly name = 'WriteFailures'
  /** In the order of the records: the error of one that was not confirmed, undefined for one that was. */
  readonly failures: readonly unknown[]

  constructor(failures: readonly unknown[]) {
    const failed = failures.filter((failure) => failure !== undefined)
    super(`${String(failed.length)} of ${String(failures.length)} records were not confirmed`, {
      cause: failed[0],
    })
    this.failures = failures
  }
}

/** A producer with a producer id of its own. */
export interface KafkaDriverProducer {
  /**
   * Writes records of one topic with acknowledgement of all replicas in sync. What it rejects with says nothing about
   * single records, unless it is {@link WriteFailures}, or {@link KafkaDriver.refusalOf} finds a refusal in it.
   */
  write(topic: string, records: readonly ProducedRecord[]): Promise<void>
  /** Closes it. */
  close(): Promise<void>
}

/** A partition of a topic. */
export interface DescribedPartition {
  /** Its number. */
  readonly partition: number
  /** Node that leads it; -1 while there is none. */
  readonly leader: number
}

/** What a group has committed for a partition. */
interface CommittedOffset {
  /** Next offset to handle. */
  readonly offset: bigint
  /** Text that was committed with it. */
  readonly metadata: string
}

/** First offset that a partition holds, and the one that its next record gets. */
interface OffsetBounds {
  /** First offset. */
  readonly first: bigint
  /** Offset of the next record to be written. */
  readonly end: bigint
}

/** Value of a header as it was fetched. */
export type FetchedHeader = Uint8Array | string | null

/** A record as it was fetched. */
export interface FetchedRecord {
  /** Its offset. */
  readonly offset: bigint
  /** Key, or null. */
  readonly key: Uint8Array | null
  /** Value; null is a tombstone. */
  readonly value: Uint8Array | null
  /** Headers, which may be null; a name that came several times has a list. */
  readonly headers: Readonly<Record<string, FetchedHeader | readonly FetchedHeader[] | undefined>>
  /** Milliseconds since the epoch. */
  readonly timestampMs: number | undefined
}

/** What one fetch brought of a partition. */
export interface FetchedBatch {
  /** The partition. */
  readonly partition: number
  /** Offset that was asked for; undefined where the client does not tell. */
  readonly askedFor: bigint | undefined
  /** First offset of what came, records that are not handed out included; undefined where nothing came. */
  readonly first: bigint | undefined
  /** Offset that the client fetches next. */
  readonly next: bigint
  /** Offset of the next record to be written, as the fetch saw it. */
  readonly end: bigint
  /** Records; none where everything fetched was a control record, aborted, or compacted away. */
  readonly records: readonly FetchedRecord[]
}

/** An offset to commit. */
export interface OffsetToCommit extends CommittedOffset {
  /** The partition. */
  readonly partition: number
}

/** What a member of a group is told. */
export interface MembershipEvents {
  /** It has these partitions from now on, and none of those before. */
  readonly onAssigned: (partitions: readonly number[]) => void
  /**
   * The group is about to be assigned anew. What is finished is committed for the old assignment in this call; a client
   * that can hold up the rebalance does so until the promise is settled.
   */
  readonly onRebalancing: () => Promise<void>
  /** Records came. The partition is not fetched again before the promise is settled. */
  readonly onRecords: (batch: FetchedBatch) => Promise<void>
  /** The broker answered. */
  readonly onAnswer: () => void
  /** A connection was lost; the client opens it again and stays in the group if it can. */
  readonly onConnectionLost: () => void
  /** The member left the group for good, unasked. */
  readonly onEnded: (error: unknown) => void
}

/** A member of a consumer group. */
export interface KafkaMembership {
  /** Commits offsets for the present assignment; rejects where the broker did not confirm all of them. */
  commit(offsets: readonly OffsetToCommit[]): Promise<void>
  /** Fetches a partition from an offset. */
  seek(partition: number, offset: bigint): void
  /** Stops fetching partitions. */
  pause(partitions: readonly number[]): void
  /** Fetches them again. */
  resume(partitions: readonly number[]): void
  /** Leaves the group and closes its connections. */
  leave(): Promise<void>
}

/** Which group, which topic. */
export interface GroupTopic {
  /** Consumer group. */
  readonly group: string
  /** Topic. */
  readonly topic: string
}

/** Kafka, as this adapter sees it. */
export interface KafkaDriver {
  /** Opens a producer with a fresh producer id. */
  openProducer(): Promise<KafkaDriverProducer>
  /** Joins a group, starting at the first offset where it has none; resolves once the group has agreed. */
  join(request: GroupTopic, events: MembershipEvents): Promise<KafkaMembership>
  /** Partitions of a topic; undefined where it does not exist. */
  describeTopic(topic: string): Promise<readonly DescribedPartition[] | undefined>
  /** What a group has committed, by partition. */
  committedOffsets(request: GroupTopic): Promise<ReadonlyMap<number, CommittedOffset>>
  /** What the partitions of a topic hold. */
  offsetBounds(topic: string): Promise<ReadonlyMap<number, OffsetBounds>>
  /** The refusal of the broker in what a write rejected with, if it is one after which nothing is stored. */
  refusalOf(error: unknown): BrokerRefusal | undefined
  /** Resolves when a broker answers. */
  ping(): Promise<void>
  /** Closes what is open of its own. */
  close(): Promise<void>
}
