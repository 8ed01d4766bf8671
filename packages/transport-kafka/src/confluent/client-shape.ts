import type { KafkaJsBatchPayload, KafkaJsMessage } from '../kafkajs/client-shape.ts'

/**
 * The part of `@confluentinc/kafka-javascript` that this adapter uses, by shape. It is made after KafkaJS, and differs
 * in what options are called, in how it tells of assignments, and in what its calls answer.
 */
export interface ConfluentKafka {
  /** Makes a producer. */
  producer(config: Record<string, unknown>): ConfluentProducer
  /** Makes a consumer. */
  consumer(config: Record<string, unknown>): ConfluentConsumer
  /** Makes an administrator. */
  admin(config: Record<string, unknown>): ConfluentAdmin
}

/** A producer. */
export interface ConfluentProducer {
  /** Connects. */
  connect(): Promise<void>
  /** Sends what waits for a few seconds, and disconnects. */
  disconnect(): Promise<void>
  /** Puts messages into the queue of the client; resolves when they are stored. */
  send(record: { topic: string; messages: KafkaJsMessage[] }): Promise<unknown>
}

/** A partition of a topic. */
export interface ConfluentTopicPartition {
  /** Topic. */
  topic: string
  /** Partition. */
  partition: number
}

/** A consumer. */
export interface ConfluentConsumer {
  /** Connects. */
  connect(): Promise<void>
  /** Leaves the group and disconnects. */
  disconnect(): Promise<void>
  /** Says what to consume. */
  subscribe(subscription: { topics: string[] }): Promise<void>
  /** Starts to consume; resolves before the group is joined. */
  run(config: {
    eachBatchAutoResolve?: boolean
    partitionsConsumedConcurrently?: number
    eachBatch?: (payload: never) => Promise<void>
  }): Promise<void>
  /** Commits. */
  commitOffsets(
    offsets: { topic: string; partition: number; offset: string; metadata?: string | null }[],
  ): Promise<void>
  /** What the group has committed. */
  committed(
    partitions: ConfluentTopicPartition[],
    timeout?: number,
  ): Promise<{ topic: string; partition: number; offset: string | null }[]>
  /** `EAGER`, `COOPERATIVE`, or `NONE`. */
  rebalanceProtocol(): string
  /** Fetches from an offset. */
  seek(position: { topic: string; partition: number; offset: string }): void
  /** Stops fetching. */
  pause(topics: { topic: string; partitions?: number[] }[]): unknown
  /** Fetches again. */
  resume(topics: { topic: string; partitions?: number[] }[]): unknown
}

/** What a batch comes with. */
export interface ConfluentBatchPayload extends Pick<KafkaJsBatchPayload, 'batch' | 'isStale'> {
  /** The batch was taken over up to this offset; the rest of it is fetched again. */
  resolveOffset(offset: string): void
}

/** An administrator. */
export interface ConfluentAdmin {
  /** Connects. */
  connect(): Promise<void>
  /** Disconnects. */
  disconnect(): Promise<void>
  /** Names of all topics. */
  listTopics(options?: { timeout?: number }): Promise<string[]>
  /** Partitions of topics. */
  fetchTopicMetadata(options?: { topics?: string[]; timeout?: number }): Promise<
    {
      readonly name: string
      readonly partitions: { readonly partitionId: number; readonly leader: number }[]
    }[]
  >
  /** What partitions hold. */
  fetchTopicOffsets(
    topic: string,
    options?: { timeout?: number },
  ): Promise<{ partition: number; high: string; low: string }[]>
  /** What a group has committed. */
  fetchOffsets(options: { groupId: string; topics?: string[]; timeout?: number }): Promise<
    {
      readonly topic: string
      readonly partitions: {
        readonly partition: number
        readonly offset: string
        readonly metadata?: string | null
      }[]
    }[]
  >
}
