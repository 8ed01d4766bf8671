import { kafkaClient } from '../services/index.ts'

/** Ids of all records that a topic holds, with how often it holds them; read by a client apart from those under test. */
export async function readLog(url: string, topic: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>()
  const client = kafkaClient(url)
  const admin = client.admin()
  await admin.connect()
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  const left = new Map(
    ends.filter(({ high }) => Number(high) > 0).map(({ partition, high }) => [partition, Number(high)]),
  )
  if (left.size === 0) return times
  const consumer = client.consumer({
    groupId: `${topic}-reader`,
    maxWaitTimeInMs: 100,
    retry: { retries: 10 },
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  const { promise: done, resolve } = Promise.withResolvers<undefined>()
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ partition, message }) => {
      const id = String(message.headers?.['message-id'] ?? message.headers?.['litebus-message-id'])
      times.set(id, (times.get(id) ?? 0) + 1)
      if (Number(message.offset) + 1 >= (left.get(partition) ?? 0)) left.delete(partition)
      if (left.size === 0) resolve(undefined)
      return Promise.resolve()
    },
  })
  await done
  await consumer.disconnect()
  return times
}
