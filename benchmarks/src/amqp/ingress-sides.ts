import { amqpTransport } from '@litebus/transport-amqp'
import { connect, type Channel, type ConsumeMessage } from 'amqplib'
import type { BrokerSides, IngressRound, OwnSide } from '../broker/broker-round.ts'
import { openFloorInbox } from '../broker/ingress-floor.ts'
import { ingressProduct } from '../broker/ingress-product.ts'
import { openBenchQueue } from './bench-queue.ts'

/** The sides of an ingress from RabbitMQ. */
export const amqpIngressSides: BrokerSides<IngressRound> = {
  broker: 'rabbitmq',
  openQueue: openBenchQueue,
  product: (round) =>
    ingressProduct(
      round,
      amqpTransport({ url: round.brokerUrl, topology: { queues: [{ name: round.queue.name }] } }),
    ),
  floor,
  raw: rawConsume,
}

/** Gathers deliveries, parses each body once, stores a batch by one statement, then acknowledges it. */
async function floor(round: IngressRound): Promise<OwnSide> {
  const { databaseUrl, brokerUrl, queue, kind, messages, batch, prefetch } = round
  const inbox = await openFloorInbox(databaseUrl, queue.name)
  const connection = await connect(brokerUrl, { noDelay: true })
  let end = (): Promise<void> => Promise.resolve()
  return {
    name: `floor, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const channel = await connection.createChannel()
      await channel.prefetch(prefetch)
      const { promise: done, resolve, reject } = Promise.withResolvers<undefined>()
      let gathered: ConsumeMessage[] = []
      let came = 0
      let accepted = 0
      const flush = async (): Promise<void> => {
        const entries = gathered
        gathered = []
        await inbox.accept(
          entries.map(({ properties, content }) => ({
            id: String(properties.messageId),
            contract: String(properties.headers?.['litebus-contract-name']),
            body: content,
          })),
        )
        for (const entry of entries) channel.ack(entry)
        accepted += entries.length
        if (accepted === messages) resolve(undefined)
      }
      const { consumerTag } = await channel.consume(queue.name, (message) => {
        if (message === null) return
        JSON.parse(message.content.toString())
        gathered.push(message)
        came += 1
        if (gathered.length === batch || came === messages) flush().catch(reject)
      })
      await done
      end = () => endConsumer(channel, consumerTag)
      return accepted
    },
    end: () => end(),
    async [Symbol.asyncDispose]() {
      await connection.close()
      await inbox[Symbol.asyncDispose]()
    },
  }
}

/** Consumes and acknowledges, without a database. */
async function rawConsume({ brokerUrl, queue, kind, messages, prefetch }: IngressRound): Promise<OwnSide> {
  const connection = await connect(brokerUrl, { noDelay: true })
  let end = (): Promise<void> => Promise.resolve()
  return {
    name: `raw amqplib, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const channel = await connection.createChannel()
      await channel.prefetch(prefetch)
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let accepted = 0
      const { consumerTag } = await channel.consume(queue.name, (message) => {
        if (message === null) return
        channel.ack(message)
        accepted += 1
        if (accepted === messages) resolve(undefined)
      })
      await done
      end = () => endConsumer(channel, consumerTag)
      return accepted
    },
    end: () => end(),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}

async function endConsumer(channel: Channel, consumerTag: string): Promise<void> {
  await channel.cancel(consumerTag)
  await channel.close()
}
