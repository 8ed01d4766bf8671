import { createKafkaTopic } from '@litebus/integration-tests/services'
import type { Message } from 'kafkajs'
import { requiredHeaders, type BenchQueue } from '../broker/broker-round.ts'
import { payload } from '../harness/payloads.ts'
import { benchClient } from './bench-client.ts'

/** Largest message, and largest batch of one partition, with room for what is around it. */
export const largestMessageBytes: number = 16 * 1024 * 1024 - 65_536

/** Makes a topic with three partitions, as services have several instances. */
export async function openBenchTopic(url: string, name: string): Promise<BenchQueue> {
  const client = benchClient(url)
  const admin = client.admin()
  const producer = client.producer()
  await Promise.all([admin.connect(), producer.connect()])
  await createKafkaTopic(admin, {
    topic: name,
    numPartitions: 3,
    // Room for a whole batch of real bodies, so that no side has to divide it.
    configEntries: [{ name: 'max.message.bytes', value: String(16 * 1024 * 1024) }],
  })
  return {
    name,
    // What a relay writes nobody reads, and a consumer goes on where its group stands.
    purge: () => Promise.resolve(),
    async fill(kind, messages) {
      for (let from = 0; from < messages; from += 500) {
        await producer.send({
          topic: name,
          messages: Array.from({ length: Math.min(500, messages - from) }, (_, index) =>
            rawMessage(crypto.randomUUID(), Buffer.from(payload(kind, from + index))),
          ),
        })
      }
    },
    async [Symbol.asyncDispose]() {
      await admin.deleteTopics({ topics: [name] })
      await Promise.all([admin.disconnect(), producer.disconnect()])
    },
  }
}

/** A message as the product writes it. */
export function rawMessage(id: string, body: Buffer): Message {
  return { value: body, headers: { 'content-type': 'application/json', ...requiredHeaders(id) } }
}
