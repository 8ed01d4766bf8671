import { isLiteBusError, within, withinOr, type Transport } from '@litebus/core'
import { kafkaCapabilities } from './capabilities.ts'
import { createKafkaConsumer } from './consumer.ts'
import { closedTransport, missingTopic, safeText, unavailable } from './errors.ts'
import { createConfluentDriver } from './confluent/confluent-driver.ts'
import { isConfluentClient } from './confluent/confluent-client.ts'
import type { KafkaDriver } from './driver.ts'
import { createKafkaJsDriver } from './kafkajs/kafkajs-driver.ts'
import { resolveKafkaOptions, type KafkaTransportOptions, type ResolvedKafkaOptions } from './options.ts'
import { createKafkaPublisher } from './publisher.ts'
import type { KafkaSubscription } from './subscription.ts'
import { createTopics } from './topics.ts'

/**
 * Connects to Kafka: lazily, and again for ever when a connection is lost.
 *
 * @throws OptionsError naming every wrong option.
 */
export function kafkaTransport(given: KafkaTransportOptions): Transport {
  const options = resolveKafkaOptions(given)
  const { clock } = options
  const driver = driverOf(options)
  const topics = createTopics(driver, options)
  const publisher = createKafkaPublisher(options, driver, topics)
  const running = new Set<KafkaSubscription>()
  let closing: Promise<void> | undefined

  const isClosed = (): boolean => closing !== undefined
  const shut = async (): Promise<void> => {
    await Promise.all([...running].map((subscription) => subscription.stop({ budgetMs: 0 })))
    await withinOr(publisher.close(), { clock, limitMs: options.closeTimeoutMs, otherwise: undefined })
    await withinOr(driver.close(), { clock, limitMs: options.closeTimeoutMs, otherwise: undefined })
  }
  const close = (): Promise<void> => (closing ??= Promise.resolve().then(shut))

  const probe = async (destination: string | undefined): Promise<void> => {
    if (isClosed()) throw closedTransport()
    try {
      const reached =
        destination === undefined ? driver.ping().then(() => []) : driver.describeTopic(destination)
      const found = await within(clock, options.connectTimeoutMs, reached)
      if (found === undefined) throw missingTopic(destination ?? '')
    } catch (error) {
      if (isLiteBusError(error)) throw error
      throw unavailable('Kafka does not answer', safeText(error, options), error)
    }
  }

  return {
    system: 'kafka',
    capabilitiesOf: () => kafkaCapabilities(options),
    readerOf(topic) {
      const { groupId } = options
      const group = typeof groupId === 'function' ? groupId(topic) : groupId
      return JSON.stringify(['kafka', group ?? null, topic])
    },
    publisher,
    consumer: createKafkaConsumer({ options, driver, running, isClosed }),
    probe,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function driverOf(options: ResolvedKafkaOptions): KafkaDriver {
  const { client } = options
  return client !== undefined && isConfluentClient(client)
    ? createConfluentDriver(options, client.kafka)
    : createKafkaJsDriver(options, client)
}
