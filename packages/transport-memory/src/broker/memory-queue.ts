import type { Clock, ReturnOptions, Timer } from '@litebus/core'
import type { StoredMessage } from './stored-message.ts'
import type { MemoryQueueCount, MemoryQueueOptions } from './topology.ts'

/** One consumer of a queue. */
export interface QueueReader {
  /** True when it can take one more. */
  wants(): boolean
  /** Takes a delivery. */
  take(stored: StoredMessage): void
  /** The broker ended it. */
  cancelled(): void
}

/** A queue: ready messages in order of their sequence, readers in turn. */
export interface MemoryQueue {
  /** What it was declared with. */
  readonly options: MemoryQueueOptions
  /** False when it is full. */
  hasRoom(): boolean
  /** Takes a message, after a delay if one is given. */
  put(stored: StoredMessage, delayMs?: number): void
  /** Registers a reader; the result takes it away again. */
  attach(reader: QueueReader): () => void
  /** Ends all readers. */
  cancelReaders(): void
  /** Offers ready messages to readers that want one. */
  offer(): void
  /** A delivered message is done with. */
  remove(stored: StoredMessage): void
  /** A delivered message comes back to its place; false when its delivery limit is used up. */
  giveBack(stored: StoredMessage, options?: ReturnOptions): boolean
  /** Counts. */
  count(): MemoryQueueCount
  /** Ready messages, in order. */
  peek(): readonly StoredMessage[]
  /** Cancels its timers. */
  close(): void
}

/** An empty queue; `onRoom` is called whenever a message left it. */
export function createMemoryQueue(
  options: MemoryQueueOptions,
  clock: Clock,
  onRoom: () => void,
): MemoryQueue {
  const ready: StoredMessage[] = []
  const unsettled = new Set<StoredMessage>()
  const delayed = new Map<StoredMessage, Timer>()
  const readers: QueueReader[] = []
  let held: Timer | undefined
  let offering = false

  /** Readers in turn; an ordered queue serves its first one only. */
  const nextReader = (): QueueReader | undefined => {
    if (options.ordered === true) return readers[0]?.wants() === true ? readers[0] : undefined
    const index = readers.findIndex((reader) => reader.wants())
    if (index === -1) return undefined
    const [reader] = readers.splice(index, 1)
    if (reader !== undefined) readers.push(reader)
    return reader
  }

  // In a microtask: a publish must not run consumers inside of itself.
  const offer = (): void => {
    if (offering) return
    offering = true
    queueMicrotask(() => {
      offering = false
      while (ready.length > 0 && held === undefined) {
        const reader = nextReader()
        const stored = reader === undefined ? undefined : ready.shift()
        if (reader === undefined || stored === undefined) return
        stored.deliveries += 1
        unsettled.add(stored)
        reader.take(stored)
      }
    })
  }

  const insert = (stored: StoredMessage): void => {
    const index = ready.findIndex(({ sequence }) => sequence > stored.sequence)
    ready.splice(index === -1 ? ready.length : index, 0, stored)
    offer()
  }

  const put = (stored: StoredMessage, delayMs = 0): void => {
    if (delayMs <= 0) {
      const last = ready.at(-1)
      if (last === undefined || last.sequence < stored.sequence) {
        ready.push(stored)
        offer()
      } else insert(stored)
      return
    }
    const timer = clock.schedule(delayMs, () => {
      delayed.delete(stored)
      insert(stored)
    })
    delayed.set(stored, timer)
  }

  return {
    options,
    hasRoom: () =>
      ready.length + unsettled.size + delayed.size < (options.capacity ?? Number.POSITIVE_INFINITY),
    put,
    attach(reader) {
      readers.push(reader)
      offer()
      return () => {
        const index = readers.indexOf(reader)
        if (index !== -1) readers.splice(index, 1)
        offer()
      }
    },
    cancelReaders() {
      for (const reader of readers.splice(0)) reader.cancelled()
    },
    offer,
    remove(stored) {
      unsettled.delete(stored)
      onRoom()
    },
    giveBack(stored, { delayMs = 0, attempt, firstFailureAt } = {}) {
      unsettled.delete(stored)
      if (stored.deliveries > (options.deliveryLimit ?? Number.POSITIVE_INFINITY)) return false
      if (attempt !== undefined) stored.attempt = attempt
      if (firstFailureAt !== undefined) stored.firstFailureAt = firstFailureAt
      if (options.ordered === true && delayMs > 0) {
        held?.cancel()
        held = clock.schedule(delayMs, () => {
          held = undefined
          offer()
        })
        insert(stored)
      } else put(stored, delayMs)
      return true
    },
    count: () => ({ ready: ready.length, unsettled: unsettled.size, delayed: delayed.size }),
    peek: () => [...ready],
    close() {
      held?.cancel()
      for (const timer of delayed.values()) timer.cancel()
    },
  }
}
