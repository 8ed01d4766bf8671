import {
  InvalidOperationError,
  portRules,
  readOptions,
  systemClock,
  type Clock,
  type OptionShape,
  type OutboundMessage,
  type ReturnOptions,
} from '@litebus/core'
import { createCountdown, type MemoryFaults, type PublishFault, type SettlementFault } from './faults.ts'
import { createMemoryQueue, type MemoryQueue } from './memory-queue.ts'
import { createSignalBoard, type SignalBoard } from './signal-board.ts'
import { untilAborted } from './wait.ts'
import type { StoredMessage } from './stored-message.ts'
import type { MemoryExchangeOptions, MemoryQueueCount, MemoryQueueOptions } from './topology.ts'

/** What a memory broker starts with. */
export interface MemoryBrokerOptions {
  /** Queues that exist from the start. @defaultValue none */
  readonly queues?: readonly MemoryQueueOptions[]
  /** Exchanges that exist from the start. @defaultValue none */
  readonly exchanges?: readonly MemoryExchangeOptions[]
  /** Time of the broker: delays, timestamps. @defaultValue the system clock */
  readonly clock?: Clock
}

/** A broker in memory: pass it to as many transports as there are services. Disposing of it ends its timers. */
export interface MemoryBroker extends Disposable {
  /** Creates a queue; declaring an existing one with the same options does nothing. */
  declareQueue(options: MemoryQueueOptions): void
  /** Creates an exchange, or replaces its bindings. */
  declareExchange(options: MemoryExchangeOptions): void
  /** Deletes a queue with its messages and cancels its consumers. */
  deleteQueue(name: string): void
  /** Counts the messages of a queue. */
  count(queue: string): MemoryQueueCount
  /** Bodies waiting in a queue, in order, without taking them. */
  peek(queue: string): readonly Uint8Array[]
  /** Puts a message into a queue as a publisher without LiteBus would: any headers, an id or none. */
  put(queue: string, message: StoredMessage['message']): void
  /** Everything that can go wrong, on demand. */
  readonly faults: MemoryFaults
  /** The side that transports use; not for applications. */
  readonly internals: MemoryBrokerInternals
}

/** What a transport uses of a broker; may change in any version. */
export interface MemoryBrokerInternals {
  /** Time of the broker. */
  readonly clock: Clock
  /** Signals of the broker to its clients. */
  readonly board: SignalBoard
  /** Faults of coming publishes. */
  readonly publishFaults: { next(): PublishFault | undefined }
  /** Faults of coming settlements. */
  readonly settlementFaults: { next(): SettlementFault | undefined }
  /** While confirms are held: resolves when they are let go. */
  heldConfirms(): Promise<void> | undefined
  /** True while connections can be opened. */
  reachable(): boolean
  /** True while publishes are not taken. */
  blocked(): boolean
  /** The queue, if it exists. */
  queue(name: string): MemoryQueue | undefined
  /** True for an existing queue or exchange. */
  knows(name: string): boolean
  /** Queues that a message goes to; undefined when its destination does not exist. */
  route(message: Pick<OutboundMessage, 'destination' | 'routingKey'>): readonly MemoryQueue[] | undefined
  /** Stores a message in queues. */
  store(message: OutboundMessage, queues: readonly MemoryQueue[]): void
  /** A delivered message comes back, or ends in the dead-letter queue when its limit is used up. */
  giveBack(queue: MemoryQueue, stored: StoredMessage, options?: ReturnOptions): void
  /** A delivered message ends in the dead-letter queue, or nowhere. */
  discard(queue: MemoryQueue, stored: StoredMessage): void
}

const shape: OptionShape<MemoryBrokerOptions> = {
  queues: 'list?',
  exchanges: 'list?',
  clock: portRules.clock,
}

/**
 * Creates a broker in memory.
 *
 * @throws OptionsError naming every wrong option.
 */
export function memoryBroker(given: MemoryBrokerOptions = {}): MemoryBroker {
  const options = readOptions('memoryBroker', given, { shape })
  const clock = options.clock ?? systemClock
  const board = createSignalBoard()
  const queues = new Map<string, MemoryQueue>()
  const exchanges = new Map<string, MemoryExchangeOptions>()
  const seen = new Map<MemoryQueue, Set<string>>()
  const publishFaults = createCountdown<PublishFault>()
  const settlementFaults = createCountdown<SettlementFault>()
  let confirms: Promise<void> | undefined
  let reachable = true
  let blocked = false
  let sequence = 0

  const existing = (name: string): MemoryQueue => {
    const queue = queues.get(name)
    if (queue === undefined) throw new InvalidOperationError(`expected a queue named ${name}, found none`)
    return queue
  }

  const route: MemoryBrokerInternals['route'] = ({ destination, routingKey }) => {
    if (routingKey === undefined) {
      const queue = queues.get(destination)
      return queue === undefined ? undefined : [queue]
    }
    const bindings = exchanges.get(destination)?.bindings
    return bindings?.flatMap((binding) => {
      const queue = queues.get(binding.queue)
      return queue !== undefined && (binding.routingKey === '#' || binding.routingKey === routingKey)
        ? [queue]
        : []
    })
  }

  const isDuplicate = (queue: MemoryQueue, id: string): boolean => {
    if (queue.options.deduplicate !== true) return false
    const ids = seen.get(queue) ?? new Set()
    seen.set(queue, ids)
    if (ids.has(id)) return true
    ids.add(id)
    return false
  }

  const discard: MemoryBrokerInternals['discard'] = (queue, stored) => {
    queue.remove(stored)
    const target = queue.options.deadLetter === undefined ? undefined : queues.get(queue.options.deadLetter)
    sequence += 1
    target?.put({ sequence, message: stored.message, deliveries: 0 })
  }

  const internals: MemoryBrokerInternals = {
    clock,
    board,
    publishFaults,
    settlementFaults,
    heldConfirms: () => confirms,
    reachable: () => reachable,
    blocked: () => blocked,
    queue: (name) => queues.get(name),
    knows: (name) => queues.has(name) || exchanges.has(name),
    route,
    store(message, targets) {
      for (const queue of targets) {
        if (isDuplicate(queue, message.deduplicationId ?? message.messageId)) continue
        sequence += 1
        queue.put(
          {
            sequence,
            deliveries: 0,
            message: {
              messageId: message.messageId,
              // A copy: the caller may reuse its buffer once the publish is confirmed.
              body: Uint8Array.from(message.body),
              headers: { ...message.headers },
              contentType: message.contentType ?? 'application/json',
              timestamp: new Date(clock.now()),
              ...(message.orderingKey === undefined ? {} : { orderingKey: message.orderingKey }),
            },
          },
          message.delayMs,
        )
      }
    },
    giveBack(queue, stored, how) {
      if (!queue.giveBack(stored, how)) discard(queue, stored)
    },
    discard,
  }

  const broker: MemoryBroker = {
    declareQueue(declared) {
      if (queues.has(declared.name)) return
      queues.set(
        declared.name,
        createMemoryQueue(declared, clock, () => {
          board.changed()
        }),
      )
    },
    declareExchange(declared) {
      exchanges.set(declared.name, declared)
    },
    deleteQueue(name) {
      const queue = queues.get(name)
      queues.delete(name)
      queue?.close()
      queue?.cancelReaders()
      board.changed()
    },
    count: (name) => existing(name).count(),
    peek: (name) =>
      existing(name)
        .peek()
        .map(({ message }) => message.body),
    put(name, message) {
      sequence += 1
      existing(name).put({ sequence, deliveries: 0, message })
    },
    faults: {
      dropConnections() {
        board.drop()
      },
      setReachable(value) {
        reachable = value
        board.changed()
      },
      setBlocked(value) {
        blocked = value
        board.changed()
      },
      failNextPublish(fault) {
        publishFaults.add(fault, fault.times ?? 1)
      },
      holdConfirms() {
        const gate = new AbortController()
        confirms = untilAborted(new Promise(() => undefined), [gate.signal])
        return () => {
          confirms = undefined
          gate.abort()
        }
      },
      failNextSettlement(fault) {
        settlementFaults.add(fault, fault.times ?? 1)
      },
      redeliver(name) {
        board.closeChannels(name)
      },
      cancelConsumers(name) {
        existing(name).cancelReaders()
      },
    },
    internals,
    [Symbol.dispose]() {
      board.drop()
      for (const queue of queues.values()) queue.close()
    },
  }
  for (const queue of options.queues ?? []) broker.declareQueue(queue)
  for (const exchange of options.exchanges ?? []) broker.declareExchange(exchange)
  return broker
}
