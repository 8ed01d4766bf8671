/**
 * The part of KafkaJS that this adapter uses, by shape: a client of any compatible package fits, and no type of the
 * client appears in the public surface.
 */

/** A client, as `new Kafka(…)` makes it. */
export interface KafkaJsClient {
  /** Makes a producer. */
  producer(config: Record<string, unknown>): KafkaJsProducer
  /** Makes a consumer. */
  consumer(config: Record<string, unknown>): KafkaJsConsumer
  /** Makes an administrator. */
  admin(config: Record<string, unknown>): KafkaJsAdmin
}

/** A message to be written. */
export interface KafkaJsMessage {
  /** Partition that it goes to. */
  readonly partition: number
  /** Key. */
  readonly key: Buffer | null
  /** Value. */
  readonly value: Buffer | null
  /** Headers. */
  readonly headers: Readonly<Record<string, string | Buffer>>
}

/** A producer. */
export interface KafkaJsProducer {
  /** Connects, and takes a producer id. */
  connect(): Promise<void>
  /** Disconnects. */
  disconnect(): Promise<void>
  /** Writes. */
  send(record: {
    topic: string
    messages: KafkaJsMessage[]
    acks?: number
    timeout?: number
    compression?: number
  }): Promise<readonly { readonly partition: number }[]>
}

/** Value of a header as it was fetched. */
export type KafkaJsHeader = Uint8Array | string | null

/** A fetched message. */
export interface KafkaJsFetchedMessage {
  /** Key. */
  readonly key?: Uint8Array | null
  /** Value. */
  readonly value: Uint8Array | null
  /** Offset, in digits. */
  readonly offset: string
  /** Milliseconds since the epoch, in digits. */
  readonly timestamp: string
  /** Headers. */
  readonly headers?: Readonly<Record<string, KafkaJsHeader | readonly KafkaJsHeader[] | undefined>>
}

/** What one fetch brought of a partition. */
export interface KafkaJsBatch {
  /** Topic. */
  readonly topic: string
  /** Partition. */
  readonly partition: number
  /** Offset of the next record to be written, in digits. */
  readonly highWatermark: string
  /** Messages. */
  readonly messages: readonly KafkaJsFetchedMessage[]
  /** Offset of the last record of the batch, control records included. */
  lastOffset(): string
}

/** Offsets in the form of the protocol. */
export interface KafkaJsOffsets {
  /** By topic. */
  topics: { topic: string; partitions: { partition: number; offset: string; metadata?: string }[] }[]
}

/** What a batch comes with. */
export interface KafkaJsBatchPayload {
  /** The batch. */
  readonly batch: KafkaJsBatch
  /** True when a seek is pending for its partition. */
  isStale(): boolean
  /** Commits these offsets, once. */
  commitOffsetsIfNecessary(offsets?: KafkaJsOffsets): Promise<void>
}

/** A consumer. */
export interface KafkaJsConsumer {
  /** Names of the events. */
  readonly events: Readonly<Record<string, string>>
  /** Listens. */
  on(event: never, listener: (event: { readonly payload: never }) => void): unknown
  /** Connects. */
  connect(): Promise<void>
  /** Leaves the group and disconnects. */
  disconnect(): Promise<void>
  /** Says what to consume. */
  subscribe(subscription: { topics: string[]; fromBeginning?: boolean }): Promise<void>
  /** Joins, and consumes from then on. */
  run(config: {
    autoCommit?: boolean
    partitionsConsumedConcurrently?: number
    eachBatch?: (payload: never) => Promise<void>
  }): Promise<void>
  /** Commits. */
  commitOffsets(
    offsets: { topic: string; partition: number; offset: string; metadata?: string | null }[],
  ): Promise<void>
  /** Fetches from an offset. */
  seek(position: { topic: string; partition: number; offset: string }): void
  /** Stops fetching. */
  pause(topics: { topic: string; partitions?: number[] }[]): void
  /** Fetches again. */
  resume(topics: { topic: string; partitions?: number[] }[]): void
}

/** An administrator. */
export interface KafkaJsAdmin {
  /** Connects. */
  connect(): Promise<void>
  /** Disconnects. */
  disconnect(): Promise<void>
  /** Brokers of the cluster. */
  describeCluster(): Promise<{ readonly brokers: readonly unknown[] }>
  /** Partitions of topics. */
  fetchTopicMetadata(request: { topics: string[] }): Promise<{
    topics: {
      readonly name: string
      readonly partitions: { readonly partitionId: number; readonly leader: number }[]
    }[]
  }>
  /** What partitions hold. */
  fetchTopicOffsets(topic: string): Promise<{ partition: number; high: string; low: string }[]>
  /** What a group has committed. */
  fetchOffsets(request: { groupId: string; topics: string[] }): Promise<
    {
      readonly topic: string
      readonly partitions: {
        readonly partition: number
        readonly offset: string
        readonly metadata: string | null
      }[]
    }[]
  >
}
