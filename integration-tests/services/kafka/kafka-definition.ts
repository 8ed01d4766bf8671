import { startContainer } from '../container-engine.ts'
import { freePort } from '../free-port.ts'
import type { ServiceDefinition } from '../service-definition.ts'
import { probeKafka } from './kafka-client.ts'
import { findKafkaPrograms } from './kafka-distribution.ts'
import { kafkaTopics } from './kafka-topics.ts'
import { startKafkaNode } from './start-kafka-cluster.ts'

const noEnd = (): Promise<void> => Promise.resolve()

export const kafkaDefinition: ServiceDefinition = {
  id: 'kafka',
  title: 'Kafka',
  variable: 'KAFKA_URL',
  localUrl: 'kafka://127.0.0.1:9092',
  howToGet: 'set KAFKA_URL, start Docker, or install Java 17 and Maven',
  probe: probeKafka,
  attach: (url) => Promise.resolve(kafkaTopics({ url, end: noEnd })),
  async startContainer() {
    // Clients are told the address of the broker by the broker, so it has to know its port before it starts.
    const port = await freePort()
    const container = await startContainer({
      image: 'apache/kafka:4.1.1',
      port: { container: 9092, host: port },
      environment: {
        KAFKA_NODE_ID: '1',
        KAFKA_PROCESS_ROLES: 'broker,controller',
        KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
        KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${String(port)}`,
        KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
        KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
        KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
        KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '500',
      },
      readyLog: /Kafka Server started/,
      readyTimes: 1,
    })
    return kafkaTopics({
      url: `kafka://127.0.0.1:${String(port)}`,
      end: async () => {
        await container.stop()
      },
    })
  },
  async startOwn() {
    if (findKafkaPrograms() === undefined) return undefined
    const node = await startKafkaNode()
    return kafkaTopics({
      url: node.url,
      async end() {
        await node[Symbol.asyncDispose]()
      },
    })
  },
}
