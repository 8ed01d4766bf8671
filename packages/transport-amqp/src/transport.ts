import { isLiteBusError, within, withinOr, type Transport } from '@litebus/core'
import { amqpCapabilities } from './capabilities.ts'
import { createAmqpConnection } from './connection.ts'
import { createAmqpConsumer } from './consumer.ts'
import type { AmqpDriverConnection } from './driver.ts'
import { missingDestination, safeText, unavailable } from './errors.ts'
import { resolveAmqpOptions, type AmqpTransportOptions } from './options.ts'
import { createAmqpPublisher } from './publisher.ts'
import { onScratchChannel } from './scratch-channel.ts'
import { readServerClose } from './server-close.ts'
import { secretsOf, virtualHostOf } from './socket.ts'
import type { AmqpSubscription } from './subscription.ts'
import { waitingPlace } from './topology/delay-queues.ts'
import { createTopologyState } from './topology/topology-state.ts'
import type { AmqpTopology } from './topology/topology.ts'

/**
 * Connects to RabbitMQ, or a broker that speaks its AMQP 0-9-1: lazily, over one connection to publish and one to
 * consume, each opened again for ever when it is lost.
 *
 * @throws OptionsError naming every wrong option.
 */
export function amqpTransport(given: AmqpTransportOptions): Transport {
  const options = resolveAmqpOptions(given)
  const { clock, telemetry } = options
  const running = new Set<AmqpSubscription>()
  let closing: Promise<void> | undefined

  const topology = createTopologyState(options)
  const publishing = createAmqpConnection(options, 'publish', topology.apply)
  const consuming = createAmqpConnection(options, 'consume', topology.apply)
  const publisher = createAmqpPublisher(options, publishing, topology)
  const gauges = [publishing, consuming].map((connection, index) =>
    telemetry.observe(
      { scope: 'LiteBus.Transport', name: 'litebus.transport.connection.blocked' },
      () => (connection.started ? Number(connection.blocked) : undefined),
      { 'messaging.system': 'rabbitmq', 'litebus.connection': index === 0 ? 'publish' : 'consume' },
    ),
  )

  const shut = async (): Promise<void> => {
    await Promise.all([...running].map((subscription) => subscription.stop({ budgetMs: 0 })))
    if (publishing.current !== undefined)
      await withinOr(publisher.idle(), { clock, limitMs: options.closeTimeoutMs, otherwise: undefined })
    await Promise.all([publishing.close(), consuming.close()])
    for (const unregister of gauges) unregister()
  }
  const close = (): Promise<void> => (closing ??= shut())

  return {
    system: 'rabbitmq',
    capabilitiesOf: (destination) => amqpCapabilities(options, destination),
    readerOf: (queue) => JSON.stringify(['rabbitmq', virtualHostOf(options), queue]),
    publisher,
    consumer: createAmqpConsumer(options, consuming, running),
    async probe(destination, { delayMs } = {}) {
      const { driver } = await publishing.ready()
      if (publishing.blocked) throw unavailable('the broker takes no publishes', 'the connection is blocked')
      if (consuming.started) await consuming.ready()
      const names = destination === undefined ? [] : placesOf(options.topology, destination, delayMs)
      let asked = ''
      try {
        await topology.ask(driver, names)
        const problem = topology.problemOf(names)
        if (problem !== undefined) throw problem
        if (names.length === 0) {
          await within(clock, options.connectTimeoutMs, probeDestination(driver, undefined))
        }
        for (asked of names) await within(clock, options.connectTimeoutMs, probeDestination(driver, asked))
      } catch (error) {
        if (isLiteBusError(error)) throw error
        if (readServerClose(error).code === 404) throw missingDestination(asked)
        throw unavailable('the broker does not answer', safeText(error, secretsOf(options)), error)
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Everything that a publish to a destination needs, the queue of its delay included. */
function placesOf(topology: AmqpTopology, destination: string, delayMs = 0): readonly string[] {
  const place = waitingPlace(topology, { destination, delayMs })
  return place === undefined || place === destination ? [destination] : [destination, place]
}

/** Looks for a queue, then for an exchange of that name; without a name, a channel that opens is answer enough. */
async function probeDestination(
  driver: AmqpDriverConnection,
  destination: string | undefined,
): Promise<void> {
  if (destination === undefined) {
    await onScratchChannel(driver, () => Promise.resolve())
    return
  }
  try {
    await onScratchChannel(driver, (channel) => channel.checkQueue(destination))
  } catch (error) {
    if (!readServerClose(error).queueMissing) throw error
    await onScratchChannel(driver, (channel) => channel.checkExchange(destination))
  }
}
