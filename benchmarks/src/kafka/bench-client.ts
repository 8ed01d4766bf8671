import { connect } from 'node:net'
import { brokersOf } from '@litebus/integration-tests/services'
import { Kafka, logLevel } from 'kafkajs'

/**
 * KafkaJS as one who measures would set it up: its own sockets hold back a request until the last one is acknowledged
 * by the network, up to 40 ms each.
 */
export function benchClient(url: string): Kafka {
  return new Kafka({
    clientId: 'litebus-bench',
    brokers: brokersOf(url),
    logLevel: logLevel.NOTHING,
    socketFactory: ({ host, port, onConnect }) => connect({ host, port }, onConnect).setNoDelay(true),
  })
}
