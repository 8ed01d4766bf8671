import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import type { BrokerSides, OwnSide, RelayRound } from '../broker/broker-round.ts'
import { relayFloor } from '../broker/relay-floor.ts'
import { relayProduct } from '../broker/relay-product.ts'
import { payload } from '../harness/payloads.ts'
import { openBenchQueue, publishRaw } from './bench-queue.ts'

/** The sides of a relay to RabbitMQ. */
export const amqpRelaySides: BrokerSides<RelayRound> = {
  broker: 'rabbitmq',
  openQueue: openBenchQueue,
  product: (round) =>
    relayProduct(
      round,
      amqpTransport({
        url: round.brokerUrl,
        publishWindow: round.window,
        topology: { queues: [{ name: round.queue.name }] },
      }),
    ),
  floor,
  raw: rawPublish,
}

/** Publishes with amqplib as it is, which makes one system call for each message. */
async function floor(round: RelayRound): Promise<OwnSide> {
  const connection = await connect(round.brokerUrl, { noDelay: true })
  const channel = await connection.createConfirmChannel()
  channel.on('return', () => {
    throw new Error('expected every message to be routed')
  })
  return relayFloor(round, {
    publish: (messages) =>
      new Promise((resolve) => {
        let open = messages.length
        const confirmed = (): void => {
          open -= 1
          if (open === 0) resolve()
        }
        for (const message of messages) publishRaw(channel, round.queue.name, { ...message, confirmed })
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  })
}

/** Publishes with the window, without a database. */
async function rawPublish({ brokerUrl, queue, kind, messages, window }: RelayRound): Promise<OwnSide> {
  const connection = await connect(brokerUrl, { noDelay: true })
  const channel = await connection.createConfirmChannel()
  return {
    name: `raw amqplib, ${kind}`,
    prepare: () => queue.purge(),
    run: () =>
      new Promise((resolve) => {
        let sent = 0
        let confirmed = 0
        const next = (): void => {
          const onConfirmed = (): void => {
            confirmed += 1
            if (sent < messages) next()
            if (confirmed === messages) resolve(messages)
          }
          const body = Buffer.from(payload(kind, sent))
          publishRaw(channel, queue.name, { id: crypto.randomUUID(), body, confirmed: onConfirmed })
          sent += 1
        }
        while (sent < Math.min(window, messages)) next()
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
