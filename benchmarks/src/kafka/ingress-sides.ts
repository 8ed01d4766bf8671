import { brokersOf } from '@litebus/integration-tests/services'
import { kafkaTransport } from '@litebus/transport-kafka'
import type { Consumer, EachBatchPayload } from 'kafkajs'
import type { BrokerSides, IngressRound, OwnSide } from '../broker/broker-round.ts'
import { openFloorInbox } from '../broker/ingress-floor.ts'
import { ingressProduct } from '../broker/ingress-product.ts'
import { benchClient } from './bench-client.ts'
import { openBenchTopic } from './bench-topic.ts'

/** The sides of an ingress from Kafka. */
export const kafkaIngressSides: BrokerSides<IngressRound> = {
  broker: 'kafka',
  openQueue: openBenchTopic,
  product: (round) =>
    ingressProduct(
      round,
      kafkaTransport({ brokers: brokersOf(round.brokerUrl), groupId: `${round.queue.name}-group` }),
    ),
  floor,
  raw: (round) => consumeRaw(round, 'raw kafkajs', () => Promise.resolve()),
}

/** Parses each body once, stores what a fetch brought by statements of one batch each, and commits it. */
async function floor(round: IngressRound): Promise<OwnSide> {
  const inbox = await openFloorInbox(round.databaseUrl, round.queue.name)
  const consuming = await consumeRaw(round, 'floor', async ({ batch: { messages } }) => {
    const deliveries = messages.map(({ value, headers }) => {
      const body = value ?? Buffer.alloc(0)
      JSON.parse(body.toString())
      return {
        id: String(headers?.['litebus-message-id']),
        contract: String(headers?.['litebus-contract-name']),
        body,
      }
    })
    const storing: Promise<void>[] = []
    for (let from = 0; from < deliveries.length; from += round.batch)
      storing.push(inbox.accept(deliveries.slice(from, from + round.batch)))
    await Promise.all(storing)
  })
  return {
    ...consuming,
    async [Symbol.asyncDispose]() {
      await consuming[Symbol.asyncDispose]()
      await inbox[Symbol.asyncDispose]()
    },
  }
}

function consumeRaw(
  { brokerUrl, queue, kind, messages }: IngressRound,
  name: string,
  store: (payload: EachBatchPayload) => Promise<void>,
): Promise<OwnSide> {
  let consumer: Consumer | undefined
  return Promise.resolve({
    name: `${name}, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      consumer = benchClient(brokerUrl).consumer({
        groupId: `${queue.name}-group`,
        maxWaitTimeInMs: 250,
      })
      await consumer.connect()
      await consumer.subscribe({ topics: [queue.name], fromBeginning: true })
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let accepted = 0
      await consumer.run({
        partitionsConsumedConcurrently: 3,
        autoCommit: false,
        async eachBatch(payload) {
          const { batch } = payload
          await store(payload)
          const offset = String(BigInt(batch.lastOffset()) + 1n)
          await payload.commitOffsetsIfNecessary({
            topics: [{ topic: batch.topic, partitions: [{ partition: batch.partition, offset }] }],
          })
          accepted += batch.messages.length
          if (accepted >= messages) resolve(undefined)
        },
      })
      await done
      return accepted
    },
    async end() {
      await consumer?.disconnect()
    },
    async [Symbol.asyncDispose]() {
      await consumer?.disconnect()
    },
  })
}
