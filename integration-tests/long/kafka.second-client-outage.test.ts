import { expect, test } from '@jest/globals'
import { confluentClient, kafkaTransport } from '@litebus/transport-kafka'
import { startProxiedNode } from '../kafka/proxied-node.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { createKafkaTopic, eventually, withKafkaAdmin } from '../services/index.ts'

await describeWithServices(
  'a publish over @confluentinc/kafka-javascript that meets an outage',
  ['startKafkaCluster', 'confluentPackage'],
  ({ confluentPackage: { KafkaJS } }) => {
    test('ends ambiguous, and the client may still deliver it when the broker is back', async () => {
      await using resources = new AsyncDisposableStack()
      const { node, address, proxy } = resources.use(await startProxiedNode())
      const topic = 'outage'
      await withKafkaAdmin(node.url, (admin) => createKafkaTopic(admin, { topic, numPartitions: 1 }))
      const transport = resources.use(
        kafkaTransport({
          client: confluentClient(new KafkaJS.Kafka({ kafkaJS: { brokers: [address] } })),
          publishTimeoutMs: 8000,
        }),
      )
      const publish = async (messageId: string): Promise<string | undefined> => {
        const message = { destination: topic, messageId, body: Buffer.from('{}'), headers: {} }
        const [outcome] = await transport.publisher.publish([message])
        return outcome?.status
      }
      const records = (): Promise<number> =>
        withKafkaAdmin(node.url, async (admin) => {
          const [partition] = await admin.fetchTopicOffsets(topic)
          return Number(partition?.high)
        })
      expect(await publish('before')).toBe('confirmed')
      proxy.refuse()
      proxy.cut()
      expect(await publish('during')).toBe('ambiguous')
      expect(await records()).toBe(1)
      proxy.accept()
      await eventually(
        async () => {
          expect(await records()).toBe(2)
        },
        { expectation: 'the client to have gone on trying', timeoutMs: 30_000 },
      )
      expect(await publish('after')).toBe('confirmed')
    }, 90_000)
  },
)
