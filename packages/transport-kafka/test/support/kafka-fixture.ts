import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import type { Scope, TestDestination, TransportFixture, TransportProfile } from '@litebus/conformance'
import { kafkaTransport, type KafkaTransportOptions } from '@litebus/transport-kafka'
import {
  brokersOf,
  createKafkaTopic,
  kafkaClient,
  startTcpProxy,
  withKafkaAdmin,
  type TestTopics,
} from '../../../../integration-tests/services/index.ts'
import { countHeldDeliveries } from './held-deliveries.ts'
import { evictMembers } from './leave-group.ts'

const maxMessageBytes = 2 * 1024 * 1024

const fixtureOptions: KafkaTransportOptions = {
  maxMessageBytes,
  missingSourceGraceMs: 300,
  fetchMaxWaitMs: 50,
  heartbeatIntervalMs: 200,
  sessionTimeoutMs: 6000,
  commitIntervalMs: 2,
  reconnect: { initialDelayMs: 10, maxDelayMs: 200 },
}

/** Topics of its own behind a proxy of its own; they are deleted with the space. */
export async function openKafkaFixture(
  scope: Scope,
  space: TestTopics,
  partitions: number,
): Promise<TransportFixture> {
  const [broker = ''] = brokersOf(space.url)
  const port = Number(broker.split(':')[1])
  const proxy = scope.use(await startTcpProxy({ port }))
  const admin = kafkaClient(space.url).admin()
  await admin.connect()
  scope.defer(() => admin.disconnect())
  const prefix = `${space.prefix}${randomUUID().slice(0, 8)}`
  const held = countHeldDeliveries()
  let topics = 0
  const groupOf = (source: string): string => `${source}-group`

  const waiting = async (topic: string): Promise<number> => {
    const [ends, [committed]] = await Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId: groupOf(topic), topics: [topic] }),
    ])
    const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
    return ends.reduce(
      (sum, { partition, high }) => sum + Number(high) - Math.max(0, offsets.get(partition) ?? 0),
      0,
    )
  }

  return {
    async createDestination(kind): Promise<TestDestination> {
      topics += 1
      const topic = `${prefix}-${kind}-${String(topics)}`
      await createKafkaTopic(admin, {
        topic,
        numPartitions: partitions,
        configEntries: [{ name: 'max.message.bytes', value: String(maxMessageBytes + 65_536) }],
      })
      return { destination: topic, source: topic }
    },
    connect: () =>
      held.watch(
        kafkaTransport({
          ...fixtureOptions,
          brokers: brokersOf(space.url),
          groupId: groupOf,
          // Kafka tells its clients where it is: they are led through the proxy wherever they want to go.
          clientOptions: {
            socketFactory: ({ onConnect }: { readonly onConnect: () => void }) =>
              connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
          },
        }),
      ),
    count: async (source) => (await waiting(source)) - held.of(source),
    async deleteSource(source) {
      // Its own client: one that has looked at a topic goes on asking for it.
      await withKafkaAdmin(space.url, (other) => other.deleteTopics({ topics: [source] }))
    },
    disrupt: {
      cutConnections() {
        proxy.cut()
        return Promise.resolve()
      },
      cancelConsumers: (source) => evictMembers(admin, port, groupOf(source)),
    },
  }
}

/** What the adapter declares: the same for every topic. */
export function kafkaProfile(): TransportProfile {
  const declared = kafkaTransport({ ...fixtureOptions, brokers: ['localhost:9092'] }).capabilitiesOf('any')
  return { kinds: { plain: declared, ordered: declared }, foreignPublisher: false }
}
