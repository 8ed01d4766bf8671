import type { OutboundMessage } from '@litebus/core'
import type { AmqpQueue, AmqpTopology } from './topology.ts'

/** Most delays of one queue: each of them is a replicated queue at the broker. */
export const maxDelays = 32

/** The queue in which messages for `queue` wait for `delayMs`. */
export function delayQueueName(queue: string, delayMs: number): string {
  return `${queue}.delay.${String(delayMs)}`
}

/**
 * The queues behind `delays`, one for each: messages expire at the head of a queue only, so that different delays in
 * one queue would hold each other up. The way back is dead-lettering at least once, which keeps a message until its
 * target has it and needs a queue that refuses publishes when it is full.
 */
function delayQueues({ name, delays = [] }: AmqpQueue): readonly AmqpQueue[] {
  return delays.map((delayMs) => ({
    name: delayQueueName(name, delayMs),
    kind: 'quorum',
    messageTtlMs: delayMs,
    overflow: 'reject-publish',
    deadLetter: { exchange: '', routingKey: name, strategy: 'at-least-once' },
  }))
}

/** Every queue of a topology, those behind `delays` included. */
export function allQueues({ queues = [] }: AmqpTopology): readonly AmqpQueue[] {
  return queues.flatMap((queue) => [queue, ...delayQueues(queue)])
}

/** The destination, or the queue in which a message waits on its way there; undefined where there is no such delay. */
export function waitingPlace(
  { queues = [] }: AmqpTopology,
  { destination, routingKey, delayMs = 0 }: Pick<OutboundMessage, 'destination' | 'routingKey' | 'delayMs'>,
): string | undefined {
  if (delayMs <= 0) return destination
  if (routingKey !== undefined) return undefined
  const delay = delayFor(
    queues.find(({ name }) => name === destination),
    delayMs,
  )
  return delay === undefined ? undefined : delayQueueName(destination, delay)
}

/** The shortest declared delay that is not shorter than `delayMs`, so that nothing comes early. */
export function delayFor(queue: AmqpQueue | undefined, delayMs: number): number | undefined {
  const long = (queue?.delays ?? []).filter((delay) => delay >= delayMs)
  return long.length === 0 ? undefined : Math.min(...long)
}
