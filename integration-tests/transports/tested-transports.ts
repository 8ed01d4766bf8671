import type { Scope, TransportFixture, TransportProfile } from '@litebus/conformance'
import { amqpProfile, openAmqpFixture } from '../../packages/transport-amqp/test/support/amqp-fixture.ts'
import { kafkaProfile, openKafkaFixture } from '../../packages/transport-kafka/test/support/kafka-fixture.ts'
import { memoryProfile, openMemoryFixture } from '../../packages/transport-memory/test/memory-fixture.ts'
import { groupMembership } from '../services/index.ts'
import type { BrokerAddress } from './broker-address.ts'
import type { Provided, ServiceName } from '../services/describe-with-services.ts'

/** A broker that is ready for the tests of a file. */
export interface PreparedBroker {
  /** Opens a place for one test, which ends with its scope. */
  readonly open: (scope: Scope) => Promise<TransportFixture>
  /** Where other processes find it, if they can. */
  readonly address?: BrokerAddress
  /**
   * What the broker itself knows of those who consume a source, where it can be asked: the same for as long as nobody
   * came, went, or joined again.
   */
  readonly membership?: (source: string) => Promise<unknown>
}

/** A transport that every matrix runs with. A new one joins all of them by an entry below. */
export interface TestedTransport {
  /** As it appears in the names of tests. */
  readonly name: string
  /** What it needs to run. */
  readonly services: readonly ServiceName[]
  /** What it declares. */
  readonly profile: TransportProfile
  /** Whether other processes can reach it. */
  readonly remote: boolean
  /** Prepares a broker for all tests of a file, with the services that it named. */
  readonly prepare: (scope: Scope, services: Provided<ServiceName>) => Promise<PreparedBroker>
}

/** All of them. */
export const testedTransports: readonly TestedTransport[] = [
  {
    name: 'memory',
    services: [],
    profile: memoryProfile(),
    remote: false,
    prepare: () => Promise.resolve({ open: (scope) => Promise.resolve(openMemoryFixture(scope)) }),
  },
  {
    name: 'RabbitMQ, quorum queues',
    services: ['rabbitmq'],
    profile: amqpProfile('quorum'),
    remote: true,
    async prepare(scope, { rabbitmq }) {
      const vhost = scope.use(await rabbitmq.createVhost())
      return {
        open: (test) => openAmqpFixture(test, vhost.url, 'quorum'),
        address: { system: 'rabbitmq', url: vhost.url },
      }
    },
  },
  {
    name: 'Kafka',
    services: ['kafka'],
    profile: kafkaProfile(),
    remote: true,
    async prepare(scope, { kafka }) {
      const topics = scope.use(await kafka.createTopics())
      return {
        open: (test) => openKafkaFixture(test, topics, { partitions: 2 }),
        address: { system: 'kafka', url: topics.url },
        membership: (source) => groupMembership(topics.url, `${source}-group`),
      }
    },
  },
]
