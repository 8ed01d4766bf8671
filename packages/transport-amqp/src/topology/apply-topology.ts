import { TopologyMismatchError } from '@litebus/core'
import type { AmqpDriverChannel, AmqpDriverConnection } from '../driver.ts'
import { onScratchChannel } from '../scratch-channel.ts'
import { readServerClose, type ServerClose } from '../server-close.ts'
import { allQueues } from './delay-queues.ts'
import { queueArguments, type AmqpBinding, type AmqpQueue, type AmqpTopology } from './topology.ts'

/** What of the topology the broker did not agree to, by queue or exchange. */
export type TopologyProblems = ReadonlyMap<string, TopologyMismatchError>

/**
 * Declares or verifies the topology, each thing on its own: one mismatch does not hide or stop the others. With `only`,
 * nothing but what has these names.
 */
export async function applyTopology(
  driver: AmqpDriverConnection,
  topology: AmqpTopology,
  only?: ReadonlySet<string>,
): Promise<TopologyProblems> {
  const problems = new Map<string, TopologyMismatchError>()
  const isMeant = (name: string): boolean => only === undefined || only.has(name)
  const attempt = async (name: string, work: (channel: AmqpDriverChannel) => Promise<unknown>) => {
    try {
      await onScratchChannel(driver, work)
    } catch (error) {
      const close = readServerClose(error)
      // Without a reply code it is the connection that failed, not the declaration.
      if (close.code === undefined) throw error
      if (!problems.has(name)) problems.set(name, explainRefusal(name, close, error))
    }
  }
  for (const exchange of (topology.exchanges ?? []).filter(({ name }) => isMeant(name))) {
    await attempt(exchange.name, (channel) =>
      topology.mode === 'verify'
        ? channel.checkExchange(exchange.name)
        : channel.assertExchange(exchange.name, exchange.type ?? 'topic', {
            durable: exchange.durable ?? true,
            autoDelete: exchange.autoDelete ?? false,
            internal: exchange.internal ?? false,
            arguments: {
              ...exchange.arguments,
              ...(exchange.alternateExchange === undefined
                ? {}
                : { 'alternate-exchange': exchange.alternateExchange }),
            },
          }),
    )
  }
  for (const queue of allQueues(topology).filter(({ name }) => isMeant(name))) {
    await attempt(queue.name, (channel) =>
      topology.mode === 'verify' ? channel.checkQueue(queue.name) : assertQueue(channel, queue),
    )
  }
  if (topology.mode === 'verify') return problems
  for (const binding of (topology.bindings ?? []).filter(({ exchange }) => isMeant(exchange))) {
    await attempt(binding.exchange, (channel) => bind(channel, binding))
  }
  return problems
}

/** Declares one queue. */
export function assertQueue(channel: AmqpDriverChannel, queue: AmqpQueue): Promise<unknown> {
  return channel.assertQueue(queue.name, {
    durable: queue.durable ?? true,
    exclusive: queue.exclusive ?? false,
    autoDelete: queue.autoDelete ?? false,
    arguments: queueArguments(queue),
  })
}

function bind(channel: AmqpDriverChannel, binding: AmqpBinding): Promise<unknown> {
  const { exchange, queue, toExchange, routingKey = '' } = binding
  const args = { ...binding.arguments }
  return queue === undefined
    ? channel.bindExchange(toExchange ?? '', exchange, routingKey, args)
    : channel.bindQueue(queue, exchange, routingKey, args)
}

const inequivalence =
  /inequivalent arg '(?<name>[^']+)' for (?<kind>\w+) .* in vhost '[^']*': received (?<declared>.+) but current is (?<current>.+)$/su

/** Says what was declared, what the broker holds, and what to do. */
export function explainRefusal(name: string, close: ServerClose, cause: unknown): TopologyMismatchError {
  const found = inequivalence.exec(close.text)?.groups
  if (found !== undefined) {
    return new TopologyMismatchError(
      `expected ${found['kind'] ?? 'queue'} ${name} to have ${found['name'] ?? 'an argument'} ${found['declared'] ?? ''} ` +
        `as declared here, found ${found['current'] ?? ''} at the broker; align the declaration, or delete it at the broker and let it be declared again`,
      { cause },
    )
  }
  const advice =
    close.code === 403
      ? 'grant the user permission to configure it, or use topology.mode verify'
      : 'declare it in topology, or create it at the broker'
  return new TopologyMismatchError(
    `expected the broker to agree to what is declared for ${name}, found: ${close.text}; ${advice}`,
    { cause },
  )
}
