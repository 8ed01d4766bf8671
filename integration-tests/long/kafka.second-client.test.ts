import { afterAll, beforeAll, describe, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import { confluentClient } from '@litebus/transport-kafka'
import { kafkaProfile, openKafkaFixture } from '../../packages/transport-kafka/test/support/kafka-fixture.ts'
import { startProxiedNode, type ProxiedNode } from '../kafka/proxied-node.ts'
import { describeWithServices } from '../services/describe-with-services.ts'

await describeWithServices(
  'the Kafka transport over @confluentinc/kafka-javascript',
  ['startKafkaCluster', 'confluentPackage'],
  ({ confluentPackage: { KafkaJS } }) => {
    let broker: ProxiedNode

    beforeAll(async () => {
      broker = await startProxiedNode()
    })
    afterAll(async () => {
      await broker[Symbol.asyncDispose]()
    })

    for (const partitions of [1, 4]) {
      registerSuite(
        transportConformance({
          adapter: `confluent, ${partitions === 1 ? 'one partition' : 'several partitions'}`,
          profile: kafkaProfile(),
          open(scope) {
            const kafka = new KafkaJS.Kafka({ kafkaJS: { brokers: [broker.address] } })
            return openKafkaFixture(
              scope,
              { url: broker.node.url, prefix: '', [Symbol.asyncDispose]: () => Promise.resolve() },
              {
                partitions,
                access: {
                  options: {
                    client: confluentClient(kafka),
                    consumerOptions: { 'statistics.interval.ms': 50 },
                  },
                  cut() {
                    broker.proxy.cut()
                  },
                },
              },
            )
          },
        }),
        { describe, it },
      )
    }
  },
)
