import { Kafka, logLevel, type Admin, type ITopicConfig } from 'kafkajs'
import { eventually } from '../eventually.ts'

/** Addresses in a `kafka://host:port,host:port` URL. */
export function brokersOf(url: string): string[] {
  return url.replace(/^kafka:\/\//, '').split(',')
}

/** A client for arranging and looking, apart from those under test. */
export function kafkaClient(url: string): Kafka {
  return new Kafka({
    clientId: 'litebus-tests',
    brokers: brokersOf(url),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2000,
    retry: { retries: 5, initialRetryTime: 50 },
  })
}

/** Uses an administrator, and disconnects it however that ends. */
export async function withKafkaAdmin<T>(url: string, use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaClient(url).admin({ retry: { retries: 5, initialRetryTime: 50 } })
  await admin.connect()
  try {
    return await use(admin)
  } finally {
    await admin.disconnect()
  }
}

/** Resolves when the brokers of the cluster are known. */
export async function probeKafka(url: string): Promise<void> {
  const client = new Kafka({
    brokers: brokersOf(url),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2000,
    requestTimeout: 5000,
    retry: { retries: 0 },
  })
  const admin = client.admin()
  try {
    await admin.connect()
    const { brokers } = await admin.describeCluster()
    if (brokers.length === 0) throw new Error('expected a broker in the cluster, found none')
  } finally {
    await admin.disconnect()
  }
}

/** Creates a topic and waits until every partition has a leader that answers: brokers learn of it a moment later. */
export async function createKafkaTopic(admin: Admin, topic: ITopicConfig): Promise<void> {
  await admin.createTopics({ waitForLeaders: false, topics: [topic] })
  await eventually(
    async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic.topic] })
      const partitions = topics[0]?.partitions ?? []
      if (partitions.length === 0 || partitions.some(({ leader }) => leader < 0))
        throw new Error(`${String(partitions.length)} partitions, not all of them with a leader`)
      await admin.fetchTopicOffsets(topic.topic)
    },
    { expectation: `topic ${topic.topic} to be known`, intervalMs: 10 },
  )
}
