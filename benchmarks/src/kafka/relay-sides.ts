import { brokersOf } from '@litebus/integration-tests/services'
import { kafkaTransport } from '@litebus/transport-kafka'
import type { BrokerSides, OwnSide, RelayRound } from '../broker/broker-round.ts'
import { relayFloor } from '../broker/relay-floor.ts'
import { relayProduct } from '../broker/relay-product.ts'
import { payload } from '../harness/payloads.ts'
import { benchClient } from './bench-client.ts'
import { largestMessageBytes, openBenchTopic, rawMessage } from './bench-topic.ts'

/** The sides of a relay to Kafka. */
export const kafkaRelaySides: BrokerSides<RelayRound> = {
  broker: 'kafka',
  openQueue: openBenchTopic,
  product: (round) =>
    relayProduct(
      round,
      // A batch of rows goes in one request, as on the other sides.
      kafkaTransport({ brokers: brokersOf(round.brokerUrl), maxMessageBytes: largestMessageBytes }),
    ),
  floor,
  raw: rawProduce,
}

/** One request for each batch of rows. */
async function floor(round: RelayRound): Promise<OwnSide> {
  const producer = benchClient(round.brokerUrl).producer()
  await producer.connect()
  return relayFloor(round, {
    async publish(messages) {
      await producer.send({
        topic: round.queue.name,
        messages: messages.map(({ id, body }) => rawMessage(id, body)),
      })
    },
    [Symbol.asyncDispose]: () => producer.disconnect(),
  })
}

/** Writes the same batches, as many at a time as the window has, without a database. */
async function rawProduce({ brokerUrl, queue, kind, messages, batch, window }: RelayRound): Promise<OwnSide> {
  const producer = benchClient(brokerUrl).producer()
  await producer.connect()
  return {
    name: `raw kafkajs, ${kind}`,
    prepare: () => queue.purge(),
    async run() {
      let sent = 0
      const lane = async (): Promise<void> => {
        while (sent < messages) {
          const first = sent
          sent = Math.min(messages, sent + batch)
          await producer.send({
            topic: queue.name,
            messages: Array.from({ length: sent - first }, (_, index) =>
              rawMessage(crypto.randomUUID(), Buffer.from(payload(kind, first + index))),
            ),
          })
        }
      }
      await Promise.all(Array.from({ length: Math.ceil(window / batch) }, lane))
      return messages
    },
    [Symbol.asyncDispose]: () => producer.disconnect(),
  }
}
