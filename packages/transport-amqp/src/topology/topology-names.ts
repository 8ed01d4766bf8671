import { optionFaults, type OptionShape } from '@litebus/core'
import type { AmqpBinding, AmqpDeadLetter, AmqpExchange, AmqpQueue, AmqpTopology } from './topology.ts'

const topologyShape: OptionShape<AmqpTopology> = {
  mode: 'any?',
  queues: 'list?',
  exchanges: 'list?',
  bindings: 'list?',
}

const queueShape: OptionShape<AmqpQueue> = {
  name: 'any?',
  kind: 'any?',
  durable: 'any?',
  exclusive: 'any?',
  autoDelete: 'any?',
  deadLetter: 'object?',
  deliveryLimit: 'any?',
  maxLength: 'any?',
  maxLengthBytes: 'any?',
  overflow: 'any?',
  messageTtlMs: 'any?',
  expiresMs: 'any?',
  maxPriority: 'any?',
  singleActiveConsumer: 'any?',
  delays: 'list?',
  arguments: 'object?',
}

const deadLetterShape: OptionShape<AmqpDeadLetter> = {
  exchange: 'any?',
  routingKey: 'any?',
  strategy: 'any?',
}

const exchangeShape: OptionShape<AmqpExchange> = {
  name: 'any?',
  type: 'any?',
  durable: 'any?',
  autoDelete: 'any?',
  internal: 'any?',
  alternateExchange: 'any?',
  arguments: 'object?',
}

const bindingShape: OptionShape<AmqpBinding> = {
  exchange: 'any?',
  queue: 'any?',
  toExchange: 'any?',
  routingKey: 'any?',
  arguments: 'object?',
}

/** Names that do not exist, and lists and groups that are none: a misspelt limit would silently not be declared. */
export function misnamed(topology: AmqpTopology): readonly string[] {
  const faults = optionFaults('topology.', topology, { shape: topologyShape })
  if (faults.length > 0) return faults
  const { queues = [], exchanges = [], bindings = [] } = topology
  return [
    ...queues.flatMap((queue, index) => {
      const path = `topology.queues[${String(index)}].`
      const own = optionFaults(path, queue, { shape: queueShape })
      if (own.length > 0 || queue.deadLetter === undefined) return own
      return optionFaults(`${path}deadLetter.`, queue.deadLetter, { shape: deadLetterShape })
    }),
    ...exchanges.flatMap((exchange, index) =>
      optionFaults(`topology.exchanges[${String(index)}].`, exchange, { shape: exchangeShape }),
    ),
    ...bindings.flatMap((binding, index) =>
      optionFaults(`topology.bindings[${String(index)}].`, binding, { shape: bindingShape }),
    ),
  ]
}
