import { checkOptions, type OptionChecks } from '@litebus/core'
import { allQueues, delayQueueName, maxDelays } from './delay-queues.ts'
import { misnamed } from './topology-names.ts'
import { queueArguments, type AmqpBinding, type AmqpQueue, type AmqpTopology } from './topology.ts'

/** The broker takes a time to live of 32 bits. */
const maxTtlMs = 4_294_967_295

/** Every fault of a topology that can be seen without a broker. */
export function topologyFaults(topology: AmqpTopology): readonly string[] {
  const misspelt = misnamed(topology)
  if (misspelt.length > 0) return misspelt
  const checks = checkOptions()
  checks.that(
    topology.mode === undefined || ['assert', 'verify'].includes(topology.mode),
    `expected topology.mode to be 'assert' or 'verify', found ${String(topology.mode)}`,
  )
  topology.queues?.forEach((queue, index) => {
    checkQueue(checks, `topology.queues[${String(index)}]`, queue)
  })
  topology.exchanges?.forEach(({ name }, index) => {
    checkName(checks, `topology.exchanges[${String(index)}].name`, name)
  })
  topology.bindings?.forEach((binding, index) => {
    checkBinding(checks, `topology.bindings[${String(index)}]`, binding)
  })
  const names = {
    queues: allQueues(topology).map(({ name }) => name),
    exchanges: (topology.exchanges ?? []).map(({ name }) => name),
  }
  for (const kind of ['queues', 'exchanges'] as const) {
    const twice = names[kind].filter((name, index) => names[kind].indexOf(name) !== index)
    checks.that(
      twice.length === 0,
      `expected each of topology.${kind} once, found twice: ${twice.join(', ')}`,
    )
  }
  return checks.faults
}

function checkName(checks: OptionChecks, path: string, name: unknown): void {
  checks.that(
    typeof name === 'string' && name !== '' && Buffer.byteLength(name) <= 255,
    `expected ${path} to be a name of 1 to 255 bytes`,
  )
}

function checkQueue(checks: OptionChecks, path: string, queue: AmqpQueue): void {
  checkName(checks, `${path}.name`, queue.name)
  const quorum = (queue.kind ?? 'quorum') === 'quorum'
  const onlyClassic = (['exclusive', 'autoDelete', 'maxPriority'] as const).filter(
    (name) => queue[name] !== undefined && queue[name] !== false,
  )
  checks.that(
    !quorum || onlyClassic.length === 0,
    `expected ${path} to be a classic queue, or without ${onlyClassic.join(' and ')}: the broker refuses them on quorum queues`,
  )
  checks.that(
    !quorum || queue.durable !== false,
    `expected ${path} to be durable: the broker refuses quorum queues that are not`,
  )
  checks.that(
    quorum || queue.deliveryLimit === undefined,
    `expected ${path} to be a quorum queue, or without deliveryLimit: classic queues do not count deliveries`,
  )
  if (queue.deadLetter?.strategy === 'at-least-once') {
    checks.that(quorum, `expected ${path} to be a quorum queue: only they dead-letter at least once`)
    checks.that(
      queue.overflow === 'reject-publish',
      `expected ${path}.overflow to be 'reject-publish' together with deadLetter.strategy 'at-least-once', found ` +
        `${queue.overflow ?? 'nothing'}: the broker accepts that and silently dead-letters at most once`,
    )
  }
  for (const name of ['deliveryLimit', 'maxLength', 'maxLengthBytes', 'messageTtlMs'] as const) {
    const value = queue[name]
    if (value !== undefined) checks.integer(`${path}.${name}`, value, { min: 0 })
  }
  checkDelays(checks, path, queue)
  if (queue.expiresMs !== undefined) checks.integer(`${path}.expiresMs`, queue.expiresMs, { min: 1 })
  if (queue.maxPriority !== undefined)
    checks.integer(`${path}.maxPriority`, queue.maxPriority, { min: 1, max: 255 })
  const { arguments: further = {}, ...named } = queue
  const own = queueArguments(named)
  const repeated = Object.keys(further).filter((name) => name in own)
  checks.that(
    repeated.length === 0,
    `expected ${path}.arguments not to repeat what its options say, found ${repeated.join(', ')}`,
  )
}

function checkDelays(checks: OptionChecks, path: string, { name, delays = [] }: AmqpQueue): void {
  checks.that(
    delays.length <= maxDelays,
    `expected ${path}.delays to have at most ${String(maxDelays)} entries, found ${String(delays.length)}: each is a queue at the broker`,
  )
  delays.forEach((delayMs, index) => {
    checks.integer(`${path}.delays[${String(index)}]`, delayMs, { min: 1, max: maxTtlMs })
    checkName(
      checks,
      `${path}.delays[${String(index)}], as the name of its queue,`,
      delayQueueName(name, delayMs),
    )
  })
}

function checkBinding(checks: OptionChecks, path: string, binding: AmqpBinding): void {
  checkName(checks, `${path}.exchange`, binding.exchange)
  checks.that(
    (binding.queue === undefined) !== (binding.toExchange === undefined),
    `expected ${path} to name either queue or toExchange`,
  )
}
