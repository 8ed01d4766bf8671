import { manualClock, type StoreBinding } from '@litebus/conformance'
import { memoryStorage, type MemoryTransaction } from '../src/index.ts'

/** The memory store with an injected clock, as the suite takes it. */
export const memoryBinding: StoreBinding = {
  adapter: 'memory',
  capabilities: { callersTransactions: true, separateClock: false },
  open() {
    const clock = manualClock()
    const storage = memoryStorage({ clock })
    const ended = (): MemoryTransaction => {
      const transaction = storage.begin()
      transaction.rollback()
      return transaction
    }
    return Promise.resolve({
      inbox: storage.inbox,
      outbox: storage.outbox,
      another: () => Promise.resolve(storage.another()),
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
      now: () => clock.monotonic(),
      withoutTransaction: () => Promise.resolve(ended()),
      pass: (ms: number) => clock.advance(ms),
    })
  },
}
