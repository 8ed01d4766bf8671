import { SuspectGate, type Axis, type DedupStore, type MessageStore } from '@litebus/core'
import { AxisState } from './axis-state.ts'
import { createMemoryDedup, DedupState } from './dedup.ts'
import { createMemoryStore } from './memory-store.ts'
import { resolveOptions, type MemoryStorageOptions } from './options.ts'
import { Transactions, type MemoryTransaction } from './transaction.ts'
import { MemoryWorkSignal } from './work-signal.ts'

/** Inbox and outbox in memory, with the transactions that both take part in. */
export interface MemoryStorage extends AsyncDisposable {
  /** Store of the inbox. */
  readonly inbox: MessageStore<MemoryTransaction>
  /** Store of the outbox. */
  readonly outbox: MessageStore<MemoryTransaction>
  /** Deduplication for consumers without an inbox. */
  readonly dedup: DedupStore<MemoryTransaction>
  /** Opens a transaction that the caller ends. */
  begin(): MemoryTransaction
  /** Runs `work` in a transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (transaction: MemoryTransaction) => Promise<T>): Promise<T>
  /**
   * A second storage on the same data, with a gate for suspects of its own, as another process would have it.
   */
  another(): MemoryStorage
}

/**
 * Builds the reference storage: the meaning of every store operation, in one process, without durability.
 *
 * @throws OptionsError that names every fault of the options.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): MemoryStorage {
  const resolved = resolveOptions(options)
  const axes = {
    inbox: { state: new AxisState('inbox'), signal: new MemoryWorkSignal() },
    outbox: { state: new AxisState('outbox'), signal: new MemoryWorkSignal() },
  }
  const transactions = new Transactions((pending) => {
    for (const { state, row } of pending) state.insert(row)
    for (const axis of new Set(pending.map(({ state }) => state.axis))) axes[axis].signal.raise()
  })
  const keys = new DedupState()
  const open = (): MemoryStorage => {
    const gate = new SuspectGate({ patienceMs: resolved.suspectPatienceMs })
    const onGateOpened = (): void => {
      axes.inbox.signal.raise()
      axes.outbox.signal.raise()
    }
    const store = (axis: Axis): MessageStore<MemoryTransaction> =>
      createMemoryStore({ ...axes[axis], options: resolved, transactions, gate, onGateOpened })
    return {
      inbox: store('inbox'),
      outbox: store('outbox'),
      dedup: createMemoryDedup({ state: keys, transactions, clock: resolved.clock }),
      begin: () => transactions.begin(),
      async transaction(work) {
        const transaction = transactions.begin()
        try {
          const result = await work(transaction)
          transaction.commit()
          return result
        } finally {
          transaction.rollback()
        }
      },
      another: open,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  }
  return open()
}
