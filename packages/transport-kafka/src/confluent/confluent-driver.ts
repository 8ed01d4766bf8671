import { createAdminCalls } from '../admin-calls.ts'
import { WriteFailures, type KafkaDriver, type KafkaDriverProducer } from '../driver.ts'
import type { KafkaJsMessage } from '../kafkajs/client-shape.ts'
import { messageOf } from '../kafkajs/records.ts'
import type { ResolvedKafkaOptions } from '../options.ts'
import { adminSettings, clientLogger, consumerSettings, producerSettings } from './client-settings.ts'
import type { ConfluentKafka, ConfluentProducer } from './client-shape.ts'
import { isAnswer, isMissingTopic, refusalOf } from './confluent-errors.ts'
import { joinGroup } from './membership.ts'

/** `@confluentinc/kafka-javascript`. */
export function createConfluentDriver(options: ResolvedKafkaOptions, kafka: ConfluentKafka): KafkaDriver {
  const timeout = options.connectTimeoutMs
  const logger = clientLogger(options.logger)
  const admin = createAdminCalls({ make: () => kafka.admin(adminSettings(options, logger)), isAnswer })
  return {
    async openProducer() {
      const producer = kafka.producer(producerSettings(options, logger))
      await producer.connect()
      return producerOf(producer)
    },
    join: (request, events) =>
      joinGroup({
        request,
        events,
        clock: options.clock,
        patienceMs: options.closeTimeoutMs,
        makeConsumer: ({ onRebalance, onStatistics, onError }) =>
          kafka.consumer({
            ...consumerSettings(options, request.group, clientLogger(options.logger, onError)),
            rebalance_cb: onRebalance,
            stats_cb: ({ message }: { readonly message: string }) => {
              onStatistics(message)
            },
          }),
      }),
    async describeTopic(topic) {
      try {
        const topics = await admin.call((to) => to.fetchTopicMetadata({ topics: [topic], timeout }))
        const found = topics.find(({ name }) => name === topic)
        return found?.partitions.map(({ partitionId, leader }) => ({ partition: partitionId, leader }))
      } catch (error) {
        if (isMissingTopic(error)) return undefined
        throw error
      }
    },
    async committedOffsets({ group, topic }) {
      const found = await admin.call((to) => to.fetchOffsets({ groupId: group, topics: [topic], timeout }))
      const partitions = found.find(({ topic: name }) => name === topic)?.partitions ?? []
      return new Map(
        partitions
          .map(({ partition, offset, metadata }) => [partition, BigInt(offset), metadata ?? ''] as const)
          .filter(([, offset]) => offset >= 0n)
          .map(([partition, offset, metadata]) => [partition, { offset, metadata }]),
      )
    },
    async offsetBounds(topic) {
      const found = await admin.call((to) => to.fetchTopicOffsets(topic, { timeout }))
      return new Map(
        found.map(({ partition, low, high }) => [partition, { first: BigInt(low), end: BigInt(high) }]),
      )
    },
    refusalOf,
    async ping() {
      await admin.call((to) => to.listTopics({ timeout }))
    },
    close: () => admin.close(),
  }
}

/** Each record is a call of its own: a call with several of them says nothing about those that were stored. */
function producerOf(producer: ConfluentProducer): KafkaDriverProducer {
  return {
    async write(topic, records) {
      const writes = await Promise.allSettled(
        records.map((record) => producer.send({ topic, messages: [withBytes(messageOf(record))] })),
      )
      if (writes.every(({ status }) => status === 'fulfilled')) return
      throw new WriteFailures(
        writes.map((write) =>
          write.status === 'fulfilled'
            ? undefined
            : ((write.reason as unknown) ?? new Error('no reason given')),
        ),
      )
    },
    close: () => producer.disconnect(),
  }
}

/** Text is cut off at the first NUL by this client, and bytes of which there are none are no value at all. */
function withBytes(message: KafkaJsMessage): KafkaJsMessage {
  const headers: Record<string, string | Buffer> = {}
  for (const [name, value] of Object.entries(message.headers))
    headers[name] = value === '' ? value : Buffer.from(value)
  return { ...message, headers }
}
