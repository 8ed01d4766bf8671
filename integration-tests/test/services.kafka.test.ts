import { expect, test } from '@jest/globals'
import { describeWithServices } from '../services/describe-with-services.ts'
import { createKafkaTopic, kafkaClient, probeKafka, withKafkaAdmin } from '../services/index.ts'

async function createTopic(url: string, topic: string): Promise<void> {
  await withKafkaAdmin(url, (admin) => createKafkaTopic(admin, { topic }))
}

async function lengthOf(url: string, topic: string): Promise<number> {
  const [partition] = await withKafkaAdmin(url, (admin) => admin.fetchTopicOffsets(topic))
  return Number(partition?.high)
}

async function produce(url: string, topic: string): Promise<void> {
  const producer = kafkaClient(url).producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ value: 'one' }] })
  await producer.disconnect()
}

await describeWithServices('the Kafka of the tests', ['kafka'], ({ kafka }) => {
  test('keeps the topics of two callers apart, and deletes them with their space', async () => {
    await using first = await kafka.createTopics()
    await using second = await kafka.createTopics()
    await createTopic(first.url, `${first.prefix}orders`)
    await createTopic(second.url, `${second.prefix}orders`)
    await produce(first.url, `${first.prefix}orders`)
    expect(await lengthOf(first.url, `${first.prefix}orders`)).toBe(1)
    expect(await lengthOf(second.url, `${second.prefix}orders`)).toBe(0)
    await first[Symbol.asyncDispose]()
    const left = await withKafkaAdmin(second.url, (admin) => admin.listTopics())
    expect(left).toContain(`${second.prefix}orders`)
    expect(left).not.toContain(`${first.prefix}orders`)
  })
})

await describeWithServices('a Kafka cluster of a test', ['startKafkaCluster'], ({ startKafkaCluster }) => {
  test('keeps its log over a crash, and leaves nothing behind', async () => {
    await using cluster = await startKafkaCluster({ nodes: 1 })
    const [node] = cluster.nodes
    if (node === undefined) throw new Error('unreachable: a cluster of one has a node')
    await createTopic(node.url, 'kept')
    await produce(node.url, 'kept')
    await node.kill()
    await expect(probeKafka(node.url)).rejects.toThrow()
    await node.start()
    expect(await lengthOf(node.url, 'kept')).toBe(1)
    expect(
      await node.ctl([
        'org.apache.kafka.tools.TopicCommand',
        '--bootstrap-server',
        node.url.replace('kafka://', ''),
        '--list',
      ]),
    ).toContain('kept')
    await cluster[Symbol.asyncDispose]()
    await expect(probeKafka(node.url)).rejects.toThrow()
  }, 90_000)
})
