import { Kafka, logLevel } from 'kafkajs'
import { createAdminCalls } from '../admin-calls.ts'
import { WriteFailures, type KafkaDriver, type KafkaDriverProducer, type ProducedRecord } from '../driver.ts'
import type { ResolvedKafkaOptions } from '../options.ts'
import type { KafkaJsClient, KafkaJsProducer } from './client-shape.ts'
import { isAnswer, protocolErrorOf, refusalOf } from './kafkajs-errors.ts'
import { joinGroup } from './membership.ts'
import { messageOf } from './records.ts'
import { openSocket, watchSockets, type SocketFactory } from './watched-sockets.ts'

/** A short patience: whoever calls knows better than the client whether trying again is worth it. */
const retry = { initialRetryTime: 100, maxRetryTime: 1000 }
const noRestart = { restartOnFailure: () => Promise.resolve(false) }

/** KafkaJS: a client of its own, or the one that is given. */
export function createKafkaJsDriver(
  options: ResolvedKafkaOptions,
  given: KafkaJsClient | undefined,
): KafkaDriver {
  const shared: KafkaJsClient = given ?? ownClient(options, socketFactoryOf(options))
  const admin = createAdminCalls({
    make: () => shared.admin({ retry: { ...retry, retries: 1 } }),
    isAnswer,
  })
  return {
    async openProducer() {
      const producer = shared.producer({
        allowAutoTopicCreation: false,
        // An idempotent producer has to be allowed to repeat a request: it does so under the same sequence number.
        retry: { ...retry, retries: 2 },
        ...options.producerOptions,
        idempotent: true,
      })
      try {
        await producer.connect()
      } catch (error) {
        void producer.disconnect().catch(() => undefined)
        throw error
      }
      return producerOf(producer, options)
    },
    join(request, events) {
      const sockets = watchSockets(socketFactoryOf(options), events.onConnectionLost)
      const client = given ?? ownClient(options, sockets.factory)
      const consumer = client.consumer({
        sessionTimeout: options.sessionTimeoutMs,
        heartbeatInterval: options.heartbeatIntervalMs,
        maxWaitTimeInMs: options.fetchMaxWaitMs,
        allowAutoTopicCreation: false,
        retry: { ...retry, retries: 5, ...noRestart },
        ...options.consumerOptions,
        groupId: request.group,
      })
      return joinGroup(consumer, request, {
        events,
        beforeLeaving: () => {
          sockets.release()
        },
      })
    },
    async describeTopic(topic) {
      try {
        const { topics } = await admin.call((to) => to.fetchTopicMetadata({ topics: [topic] }))
        const found = topics.find(({ name }) => name === topic)
        return found?.partitions.map(({ partitionId, leader }) => ({ partition: partitionId, leader }))
      } catch (error) {
        if (missingTopicErrors.has(protocolErrorOf(error) ?? '')) return undefined
        throw error
      }
    },
    async committedOffsets({ group, topic }) {
      const found = await admin.call((to) => to.fetchOffsets({ groupId: group, topics: [topic] }))
      const partitions = found.find(({ topic: name }) => name === topic)?.partitions ?? []
      return new Map(
        partitions
          .filter(({ offset }) => offset !== '-1')
          .map(({ partition, offset, metadata }) => [
            partition,
            { offset: BigInt(offset), metadata: metadata ?? '' },
          ]),
      )
    },
    async offsetBounds(topic) {
      const found = await admin.call((to) => to.fetchTopicOffsets(topic))
      return new Map(
        found.map(({ partition, low, high }) => [partition, { first: BigInt(low), end: BigInt(high) }]),
      )
    },
    refusalOf,
    async ping() {
      await admin.call((to) => to.describeCluster())
    },
    close: () => admin.close(),
  }
}

const missingTopicErrors: ReadonlySet<string> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'INVALID_TOPIC_EXCEPTION',
])

function ownClient(options: ResolvedKafkaOptions, socketFactory: SocketFactory): KafkaJsClient {
  return new Kafka({
    clientId: 'litebus',
    connectionTimeout: options.connectTimeoutMs,
    requestTimeout: options.publishTimeoutMs,
    logLevel: logLevel.NOTHING,
    retry: { ...retry, retries: 2 },
    ...options.clientOptions,
    brokers: [...options.brokers],
    socketFactory,
  }) as unknown as KafkaJsClient
}

function socketFactoryOf({ clientOptions }: ResolvedKafkaOptions): SocketFactory {
  return (clientOptions['socketFactory'] as SocketFactory | undefined) ?? openSocket
}

function producerOf(producer: KafkaJsProducer, options: ResolvedKafkaOptions): KafkaDriverProducer {
  return {
    async write(topic, records) {
      const answers = await producer.send({
        topic,
        messages: records.map(messageOf),
        acks: -1,
        timeout: options.publishTimeoutMs,
        ...(options.compression === undefined ? {} : { compression: options.compression }),
      })
      expectAnswers(records, answers)
    },
    close: () => producer.disconnect(),
  }
}

/**
 * When the leader of a partition changes while the client repeats a call, to a node that has answered for other
 * partitions already, the client sends that partition to nobody, and resolves: so says its source.
 *
 * @throws WriteFailures for the records of partitions without an answer.
 */
function expectAnswers(
  records: readonly ProducedRecord[],
  answers: readonly { readonly partition: number }[],
): void {
  const answered = new Set(answers.map(({ partition }) => partition))
  if (records.every(({ partition }) => answered.has(partition))) return
  throw new WriteFailures(
    records.map(({ partition }) =>
      answered.has(partition) ? undefined : new Error(`no answer for partition ${String(partition)}`),
    ),
  )
}
