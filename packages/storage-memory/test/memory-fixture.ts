import {
  manualClock,
  type CallersTransaction,
  type DedupBinding,
  type StoreBinding,
} from '@litebus/conformance'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '../src/index.ts'

const capabilities = { callersTransactions: true, separateClock: false }

/** What both suites ask of a storage besides its stores. */
function transactionsOf(storage: MemoryStorage): {
  readonly begin: () => Promise<CallersTransaction<MemoryTransaction>>
  readonly withoutTransaction: () => Promise<MemoryTransaction>
} {
  return {
    begin() {
      const transaction = storage.begin()
      return Promise.resolve({
        transaction,
        commit() {
          transaction.commit()
          return Promise.resolve()
        },
        rollback() {
          transaction.rollback()
          return Promise.resolve()
        },
      })
    },
    withoutTransaction() {
      const transaction = storage.begin()
      transaction.rollback()
      return Promise.resolve(transaction)
    },
  }
}

/** The memory store with an injected clock, as the suite takes it. */
export const memoryBinding: StoreBinding = {
  adapter: 'memory',
  capabilities,
  open() {
    const clock = manualClock()
    const storage = memoryStorage({ clock })
    return Promise.resolve({
      inbox: storage.inbox,
      outbox: storage.outbox,
      another: () => Promise.resolve(storage.another()),
      ...transactionsOf(storage),
      now: () => clock.monotonic(),
      pass: (ms: number) => clock.advance(ms),
    })
  },
}

/** Its dedup store, likewise. */
export const memoryDedupBinding: DedupBinding = {
  adapter: 'memory',
  capabilities,
  open() {
    const clock = manualClock()
    const storage = memoryStorage({ clock })
    return Promise.resolve({
      store: storage.dedup,
      another: () => Promise.resolve(storage.another().dedup),
      ...transactionsOf(storage),
      pass: (ms: number) => clock.advance(ms),
    })
  },
}
