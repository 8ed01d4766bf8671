import type { Transport } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { kafkaTransport } from '@litebus/transport-kafka'
import { brokersOf } from '../services/index.ts'

/** Where another process finds a broker of a test; plain data, so that it can be handed over. */
export interface BrokerAddress {
  /** `Transport.system` of the broker. */
  readonly system: string
  /** Its URL. */
  readonly url: string
}

/** Connects to sources that are there already, from another process; `delays` are those that each of them has. */
export function connectTo(
  { system, url }: BrokerAddress,
  queues: readonly string[],
  delays: readonly number[] = [],
): Transport {
  switch (system) {
    case 'rabbitmq':
      return amqpTransport({
        url,
        topology: { mode: 'verify', queues: queues.map((name) => ({ name, delays })) },
        reconnect: { initialDelayMs: 10, maxDelayMs: 200 },
      })
    case 'kafka':
      return kafkaTransport({
        brokers: brokersOf(url),
        groupId: (topic) => `${topic}-group`,
        sessionTimeoutMs: 6000,
        heartbeatIntervalMs: 500,
        reconnect: { initialDelayMs: 10, maxDelayMs: 200 },
      })
    default:
      throw new Error(`expected a broker that another process can reach, found ${system}`)
  }
}
