import { expect, it } from '@jest/globals'
import { createKafkaJsDriver } from '../src/kafkajs/kafkajs-driver.ts'
import type { KafkaJsClient } from '../src/kafkajs/client-shape.ts'
import { resolveKafkaOptions } from '../src/options.ts'

/** A client whose producers answer for these partitions, whatever they were given. */
function clientAnswering(...partitions: readonly number[]): KafkaJsClient {
  const producer = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    send: () =>
      Promise.resolve(partitions.map((partition) => ({ topicName: 'orders', partition, errorCode: 0 }))),
  }
  return { producer: () => producer } as unknown as KafkaJsClient
}

const record = (partition: number) => ({ partition, key: null, value: null, headers: {} })

async function write(client: KafkaJsClient): Promise<void> {
  const driver = createKafkaJsDriver(resolveKafkaOptions({ client: client }), client)
  const producer = await driver.openProducer()
  await producer.write('orders', [record(0), record(1), record(0)])
}

it('takes a write for confirmed when every partition was answered', async () => {
  await expect(write(clientAnswering(0, 1))).resolves.toBeUndefined()
})

it('confirms no record of a partition for which the client brings no answer, though it resolves', async () => {
  await expect(write(clientAnswering(0))).rejects.toMatchObject({
    failures: [undefined, new Error('no answer for partition 1'), undefined],
  })
})
