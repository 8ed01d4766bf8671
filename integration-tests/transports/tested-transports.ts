import type { Scope, TransportFixture, TransportProfile } from '@litebus/conformance'
import { amqpProfile, openAmqpFixture } from '../../packages/transport-amqp/test/support/amqp-fixture.ts'
import { memoryProfile, openMemoryFixture } from '../../packages/transport-memory/test/memory-fixture.ts'
import type { Provided, ServiceName } from '../services/describe-with-services.ts'

/** A transport that every matrix runs with. A new one joins all of them by an entry below. */
export interface TestedTransport {
  /** As it appears in the names of tests. */
  readonly name: string
  /** What it needs to run. */
  readonly services: readonly ServiceName[]
  /** What it declares. */
  readonly profile: TransportProfile
  /** Opens a place of its own at the broker, which ends with the scope. Uses the services that it named. */
  readonly open: (scope: Scope, services: Provided<ServiceName>) => Promise<TransportFixture>
}

/** All of them. */
export const testedTransports: readonly TestedTransport[] = [
  {
    name: 'memory',
    services: [],
    profile: memoryProfile(),
    open: (scope) => Promise.resolve(openMemoryFixture(scope)),
  },
  {
    name: 'RabbitMQ, quorum queues',
    services: ['rabbitmq'],
    profile: amqpProfile('quorum'),
    async open(scope, { rabbitmq }) {
      const vhost = scope.use(await rabbitmq.createVhost())
      return openAmqpFixture(scope, vhost.url, 'quorum')
    },
  },
]
