import {
  assertDedupClaim,
  resolveDedupRetention,
  untilAborted,
  type Clock,
  type DedupClaim,
  type DedupHold,
  type DedupStore,
  type SettleResult,
} from '@litebus/core'
import type { MemoryTransaction, OpenTransaction, Transactions } from './transaction.ts'

interface Entry {
  readonly generation: string
  /** Until when it is held; absent once it is completed. */
  expiresAt?: number
  endedAt?: number
  /** The open transaction that completes it. */
  completing?: OpenTransaction
}

/** The keys of a storage. */
export class DedupState {
  readonly keys: Map<string, Entry> = new Map<string, Entry>()
  #generation = 0

  /** The next generation; never used before. */
  nextGeneration(): string {
    return String(++this.#generation)
  }
}

/** What the dedup store of a storage works with. */
export interface DedupParts {
  readonly state: DedupState
  readonly transactions: Transactions
  readonly clock: Clock
}

/** Builds the dedup store of a storage. */
export function createMemoryDedup(parts: DedupParts): DedupStore<MemoryTransaction> {
  const { transactions, clock } = parts
  const { keys } = parts.state
  return {
    async claim(key, leaseMs) {
      assertDedupClaim(key, leaseMs)
      return Promise.resolve(claim(parts, key, leaseMs))
    },
    async complete(key, generation, options) {
      const handle = options?.transaction
      if (handle !== undefined) {
        return Promise.resolve(completeIn(parts, { key, generation }, transactions.use(handle)))
      }
      const transaction = transactions.begin()
      const result = completeIn(parts, { key, generation }, transaction)
      transaction.commit()
      return Promise.resolve(result)
    },
    async completeInTransaction(held, work, options) {
      const transaction = transactions.begin()
      try {
        await untilAborted(work(transaction), options?.signal)
        // Refuses one that the work has ended itself.
        const result = completeIn(parts, held, transactions.use(transaction))
        if (result === 'applied') transaction.commit()
        return result
      } finally {
        transaction.rollback()
      }
    },
    release(key, generation) {
      const entry = keys.get(key)
      const held = entry?.generation === generation && entry.endedAt === undefined
      if (held && entry.completing === undefined) keys.delete(key)
      return Promise.resolve()
    },
    async runRetention(request) {
      const { dedupRetentionMs, limit } = resolveDedupRetention(request)
      const before = clock.now() - dedupRetentionMs
      const old = [...keys].filter(([, entry]) => (entry.endedAt ?? entry.expiresAt ?? 0) <= before)
      for (const [key] of old.slice(0, limit)) keys.delete(key)
      return Promise.resolve(Math.min(old.length, limit))
    },
    probe: () => Promise.resolve(),
  }
}

function claim({ state, clock }: DedupParts, key: string, leaseMs: number): DedupClaim {
  const found = state.keys.get(key)
  if (found?.endedAt !== undefined) return { state: 'completed', generation: found.generation }
  const live = found !== undefined && (found.completing !== undefined || (found.expiresAt ?? 0) > clock.now())
  if (live) return { state: 'inProgress', generation: found.generation }
  const generation = state.nextGeneration()
  state.keys.set(key, { generation, expiresAt: clock.now() + leaseMs })
  return { state: 'claimed', generation }
}

/** Marks the key as being completed; what the transaction comes to decides. */
function completeIn(
  { state, clock }: DedupParts,
  { key, generation }: DedupHold,
  transaction: OpenTransaction,
): SettleResult {
  const entry = state.keys.get(key)
  if (entry?.generation !== generation) return 'leaseLost'
  if (entry.endedAt !== undefined) return 'applied'
  entry.completing = transaction
  transaction.ends.push((committed) => {
    delete entry.completing
    if (!committed) return
    delete entry.expiresAt
    entry.endedAt = clock.now()
  })
  return 'applied'
}
