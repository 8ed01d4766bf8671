import { InvalidOperationError } from '@litebus/core'
import type { AxisState } from './axis-state.ts'
import type { Row } from './row.ts'

/** A transaction of a memory storage: what is appended with it becomes visible at its commit, or never. */
export interface MemoryTransaction {
  /** False once it is committed or rolled back. */
  readonly isOpen: boolean
  /** Makes everything visible that was appended. */
  commit(): void
  /** Forgets everything that was appended; does nothing after the end. */
  rollback(): void
}

interface Pending {
  readonly state: AxisState
  readonly row: Row
}

/** The transactions of one storage, and what they keep from each other. */
export class Transactions {
  readonly #reserved = new Map<string, OpenTransaction>()
  readonly #turns = new Map<string, { holder: OpenTransaction; readonly queue: (() => void)[] }>()
  readonly #onCommit: (pending: readonly Pending[]) => void

  /** `onCommit` makes rows visible. */
  constructor(onCommit: (pending: readonly Pending[]) => void) {
    this.#onCommit = onCommit
  }

  /** Opens a transaction. */
  begin(): OpenTransaction {
    return new OpenTransaction((transaction, committed) => {
      for (const name of transaction.reservations) this.#reserved.delete(name)
      if (committed) this.#onCommit(transaction.pending)
      for (const end of transaction.ends) end(committed)
      for (const name of transaction.turns) this.#passTurn(name)
    })
  }

  /** The open transaction behind a handle. */
  use(handle: MemoryTransaction): OpenTransaction {
    if (!(handle instanceof OpenTransaction) || !handle.isOpen) {
      throw new InvalidOperationError(
        'expected an open transaction of this memory storage, found one that has ended or another value',
      )
    }
    return handle
  }

  /** Whether another open transaction is writing this identity. */
  isReservedByOther(name: string, transaction: OpenTransaction): boolean {
    const holder = this.#reserved.get(name)
    return holder !== undefined && holder !== transaction
  }

  /** Keeps an identity from others until the transaction ends. */
  reserve(name: string, transaction: OpenTransaction): void {
    this.#reserved.set(name, transaction)
    transaction.reservations.add(name)
  }

  /** Waits for the turn of a transaction at a lane and keeps it until the transaction ends. */
  async takeTurn(name: string, transaction: OpenTransaction): Promise<void> {
    for (;;) {
      const turn = this.#turns.get(name)
      if (turn === undefined) {
        this.#turns.set(name, { holder: transaction, queue: [] })
        transaction.turns.add(name)
        return
      }
      if (turn.holder === transaction) return
      await new Promise<void>((resolve) => turn.queue.push(resolve))
    }
  }

  #passTurn(name: string): void {
    const turn = this.#turns.get(name)
    this.#turns.delete(name)
    for (const wake of turn?.queue ?? []) wake()
  }
}

/** The storage's side of a transaction. */
export class OpenTransaction implements MemoryTransaction {
  readonly pending: Pending[] = []
  readonly reservations: Set<string> = new Set<string>()
  readonly turns: Set<string> = new Set<string>()
  /** Told whether it was committed. */
  readonly ends: ((committed: boolean) => void)[] = []
  readonly #end: (transaction: OpenTransaction, committed: boolean) => void
  #isOpen = true

  /** `end` is called once. */
  constructor(end: (transaction: OpenTransaction, committed: boolean) => void) {
    this.#end = end
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  commit(): void {
    if (!this.#isOpen)
      throw new InvalidOperationError('expected an open transaction, found one that has ended')
    this.#isOpen = false
    this.#end(this, true)
  }

  rollback(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#end(this, false)
  }
}
