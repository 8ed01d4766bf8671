import { expect, test } from '@jest/globals'
import { describeWithServices } from '../services/describe-with-services.ts'
import { createKafkaTopic, kafkaClient, withKafkaAdmin } from '../services/index.ts'

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
