import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Scope, TestDestination, TransportFixture, TransportProfile } from '@litebus/conformance'
import { wireHeaders, type HeaderValue } from '@litebus/core'
import type { Admin, Producer } from 'kafkajs'
import { kafkaTransport, type KafkaTransportOptions } from '@litebus/transport-kafka'
import {
  brokersOf,
  createKafkaTopic,
  groupLag,
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

/** How the transports of a fixture reach Kafka. */
interface KafkaAccess {
  /** The client that they use, and where it connects to. */
  readonly options: Pick<KafkaTransportOptions, 'brokers' | 'client' | 'clientOptions' | 'consumerOptions'>
  /** Cuts their connections. */
  cut(): void
}

/** What a fixture is opened with. */
export interface KafkaFixtureOptions {
  /** Partitions of each topic. */
  readonly partitions: number
  /** @defaultValue KafkaJS, through a proxy of the fixture's own */
  readonly access?: KafkaAccess
}

/** Topics of its own; they are deleted with the space. */
export async function openKafkaFixture(
  scope: Scope,
  space: TestTopics,
  { partitions, access: given }: KafkaFixtureOptions,
): Promise<TransportFixture> {
  const [broker = ''] = brokersOf(space.url)
  const port = Number(broker.split(':')[1])
  const access = given ?? (await accessByKafkaJs(scope, space, port))
  let admin = await openAdmin(space.url)
  scope.defer(() => admin.disconnect())
  const prefix = `${space.prefix}${randomUUID().slice(0, 8)}`
  const held = countHeldDeliveries()
  let topics = 0
  let foreign: Promise<Producer> | undefined
  const groupOf = (source: string): string => `${source}-group`

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
          ...access.options,
          groupId: groupOf,
        }),
      ),
    count: async (source) =>
      (await groupLag(admin, { group: groupOf(source), topic: source })) - held.of(source),
    async deleteSource(source) {
      await withKafkaAdmin(space.url, (other) => other.deleteTopics({ topics: [source] }))
      // A client that has looked at a topic goes on asking for it, and fails when it is gone.
      await admin.disconnect()
      admin = await openAdmin(space.url)
    },
    async publishForeign({ destination }, { body, headers, messageId }) {
      const producer = await (foreign ??= openProducer(scope, space.url))
      const all = { ...headers, ...(messageId === undefined ? {} : { [wireHeaders.messageId]: messageId }) }
      const texts = Object.entries(all).map(([name, value]) => [name, foreignHeader(value)])
      const message = {
        value: Buffer.from(body),
        headers: Object.fromEntries(texts) as Record<string, Buffer>,
      }
      await producer.send({ topic: destination, messages: [message] })
    },
    disrupt: {
      cutConnections() {
        const noticed = held.noticed()
        access.cut()
        return noticed
      },
      async cancelConsumers(source) {
        // A member learns of it by its next heartbeat, and hands out what it fetches until then.
        const noticed = held.noticed()
        await evictMembers(admin, port, groupOf(source))
        await noticed
      },
    },
  }
}

/** Kafka tells its clients where it is: they are led through the proxy wherever they want to go. */
async function accessByKafkaJs(scope: Scope, { url }: TestTopics, port: number): Promise<KafkaAccess> {
  const proxy = scope.use(await startTcpProxy({ port }))
  const socketFactory = ({ onConnect }: { readonly onConnect: () => void }): Socket =>
    connect({ host: '127.0.0.1', port: proxy.port }, onConnect)
  return {
    options: { brokers: brokersOf(url), clientOptions: { socketFactory } },
    cut() {
      proxy.cut()
    },
  }
}

async function openAdmin(url: string): Promise<Admin> {
  const admin = kafkaClient(url).admin()
  await admin.connect()
  return admin
}

async function openProducer(scope: Scope, url: string): Promise<Producer> {
  const producer = kafkaClient(url).producer()
  await producer.connect()
  scope.defer(() => producer.disconnect())
  return producer
}

/** Kafka has bytes and nothing else: what a producer makes of other values is up to it. */
function foreignHeader(value: HeaderValue): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value)
  return Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** What the adapter declares: the same for every topic. */
export function kafkaProfile(): TransportProfile {
  const declared = kafkaTransport({ ...fixtureOptions, brokers: ['localhost:9092'] }).capabilitiesOf('any')
  return { kinds: { plain: declared, ordered: declared }, foreignPublisher: false }
}
