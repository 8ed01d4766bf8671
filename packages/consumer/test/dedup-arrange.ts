import { defineHandler, type DedupStore } from '@litebus/core'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '@litebus/storage-memory'
import { createConsumer, type Consumer, type ConsumerOptions } from '../src/index.ts'
import { bench, done, orderPlaced, type Bench } from './arrange.ts'

export interface DedupBench extends Bench {
  readonly storage: MemoryStorage
  /** Replaces operations of the store. */
  readonly faulty: (faults: Partial<DedupStore<MemoryTransaction>>) => DedupStore<MemoryTransaction>
  readonly create: (options: Partial<ConsumerOptions<MemoryTransaction>>) => Consumer
}

/** A consumer whose store is in memory too. */
export function dedupBench(): DedupBench {
  const parts = bench()
  const storage = memoryStorage({ clock: parts.clock })
  return {
    ...parts,
    storage,
    faulty: (faults) => ({ ...storage.dedup, ...faults }),
    create: (options) =>
      createConsumer<MemoryTransaction>({
        transport: parts.transport,
        source: 'orders',
        handlers: [],
        dedup: { store: storage.dedup },
        retry: { deadLetterDestination: 'orders.dead' },
        clock: parts.clock,
        random: () => 0.5,
        ...options,
      }),
  }
}

/** A handler that counts its runs. */
export function counting(handle: () => Promise<undefined> | undefined = done): {
  readonly handlers: ConsumerOptions<MemoryTransaction>['handlers']
  readonly runs: () => number
} {
  let runs = 0
  const handler = defineHandler({
    contract: orderPlaced,
    handle() {
      runs += 1
      return handle()
    },
  })
  return { handlers: [handler], runs: () => runs }
}
