/* Consumes a topic until it is ended, and writes down what it has handled before it says so to Kafka. */
import { openSync, writeSync } from 'node:fs'
import { kafkaTransport } from '@litebus/transport-kafka'
import type { ConsumerSettings } from '../kafka/consumer-settings.ts'
import { workerSettings } from './worker-settings.ts'

const { brokers, topic, group, journal, inFlight } = workerSettings() as ConsumerSettings
const file = openSync(journal, 'a')
const transport = kafkaTransport({
  brokers,
  groupId: group,
  sessionTimeoutMs: 2000,
  heartbeatIntervalMs: 200,
  fetchMaxWaitMs: 50,
  reconnect: { initialDelayMs: 50, maxDelayMs: 500 },
})
const subscription = await transport.consumer.subscribe(
  { source: topic, maxInFlight: inFlight },
  (delivery) => {
    setTimeout(() => {
      if (Math.random() < 0.02) {
        void delivery.returnToQueue({ delayMs: Math.random() * 20, attempt: (delivery.attempt ?? 0) + 1 })
        return
      }
      writeSync(file, `${String(delivery.deliveryId)}\n`)
      void delivery.accept()
    }, Math.random() * 10)
  },
)
process.once('SIGTERM', () => {
  void subscription
    .stop({ budgetMs: 5000 })
    .then(() => transport.close())
    .then(() => process.exit(0))
})
process.send?.('ready')
