import type { ConfluentKafka } from '@litebus/transport-kafka'
import type { OnRebalance } from '../../src/confluent/membership.ts'

/** A client of Confluent's shape with one topic of one empty partition. */
export interface FakeConfluent {
  readonly kafka: ConfluentKafka
  /** What it was asked for. */
  readonly made: { producer?: object; consumer?: object; sent: unknown[] }
}

/** Consumers are given the partition as soon as they run. */
export function fakeConfluent(): FakeConfluent {
  const made: FakeConfluent['made'] = { sent: [] }
  const done = (): Promise<void> => Promise.resolve()
  const kafka: ConfluentKafka = {
    producer(config) {
      made.producer = config
      return {
        connect: done,
        disconnect: done,
        send({ messages }) {
          made.sent.push(...messages)
          return Promise.resolve()
        },
      }
    },
    consumer(config) {
      made.consumer = config
      const onRebalance = config['rebalance_cb'] as OnRebalance
      return {
        connect: done,
        disconnect: done,
        subscribe: done,
        run() {
          void onRebalance({ code: -175 }, [{ topic: 't', partition: 0 }])
          return done()
        },
        commitOffsets: done,
        committed: () => Promise.resolve([]),
        rebalanceProtocol: () => 'EAGER',
        seek: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
      }
    },
    admin: () => ({
      connect: done,
      disconnect: done,
      listTopics: () => Promise.resolve(['t']),
      fetchTopicMetadata: () => Promise.resolve([{ name: 't', partitions: [{ partitionId: 0, leader: 1 }] }]),
      fetchTopicOffsets: () => Promise.resolve([{ partition: 0, low: '0', high: '0' }]),
      fetchOffsets: () => Promise.resolve([]),
    }),
  }
  return { kafka, made }
}
