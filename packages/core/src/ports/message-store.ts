import type { Axis } from '../messages/message-state.ts'
import type { NewMessage } from '../messages/new-message.ts'
import type { TraceContext } from '../messages/trace-context.ts'
import type { Lease, LeaseBatch, LeaseRequest, RenewResult, SettleOutcome, SettleResult } from './lease.ts'
import type {
  MessageFilter,
  MessagePage,
  MessageQuery,
  MessageRecord,
  RequeueResult,
  RetentionRequest,
  RetentionResult,
  SchemaInfo,
  StatusCounts,
} from './message-query.ts'

/** What a store remembers of a write; it outlives the payload. */
export interface StoredReceipt {
  /** Message id. */
  readonly id: string
  /** Contract of the stored message. */
  readonly contractName: string
  /** Contract version of the stored message. */
  readonly contractVersion: number
  /** Time of the write that stored it, by the clock of the store. */
  readonly createdAt: Date
  /** Tenant of the stored message. */
  readonly tenantId?: string
  /** Trace context of the stored message. */
  readonly trace?: TraceContext
}

/** What became of one slot of an append. */
export interface AppendResult {
  /** Written by this call, or found. */
  readonly status: 'inserted' | 'existing'
  /** The receipt of the stored message. */
  readonly receipt: StoredReceipt
}

/** Options of an append. */
export interface AppendOptions<TTransaction> {
  /** The caller's own open transaction; absent: a transaction of the store's own. */
  readonly transaction?: TTransaction
  /** `commit`: producers of one ordering key take turns, so that their messages keep commit order. @defaultValue 'happensBefore' */
  readonly ordering?: 'happensBefore' | 'commit'
  /** Ends the call early; what was written then is unknown unless a transaction was passed. */
  readonly signal?: AbortSignal
}

/** Writes messages. */
export interface MessageAppender<TTransaction> {
  /**
   * Writes all messages or none, in one statement, and answers slot by slot.
   *
   * @throws IdempotencyConflictError when a slot conflicts; nothing is written, the transaction is usable.
   * @throws DuplicateInFlightError when a key is being written by another transaction; likewise.
   * @throws InvalidOperationError when the passed transaction is not open.
   * @throws InboxStorageError when the store refuses the message or is full by its own limit.
   * @throws StoreUnavailableError when the store cannot work now.
   */
  append(
    messages: readonly NewMessage[],
    options?: AppendOptions<TTransaction>,
  ): Promise<readonly AppendResult[]>
}

/** Options of a settle. */
export interface SettleOptions {
  /** Ends the call early; its outcome is then unknown. */
  readonly signal?: AbortSignal
}

/** Leases messages and records what became of them. */
export interface MessageLeaser<TTransaction> {
  /** Leases due messages; see {@link LeaseRequest}. */
  lease(request: LeaseRequest): Promise<LeaseBatch>
  /** Extends leases by `leaseMs` from now, in one statement; answers slot by slot. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<readonly RenewResult[]>
  /** Records outcomes in one round trip; answers slot by slot. Settling the same lease twice is `leaseLost`. */
  settle(outcomes: readonly SettleOutcome[], options?: SettleOptions): Promise<readonly SettleResult[]>
  /** Gives leases back together with their attempts; lost ones are ignored. */
  release(leases: readonly Lease[], options?: { readonly delayMs?: number }): Promise<void>
  /**
   * Runs `work` and the fenced completion of `lease` in one transaction of the store. A throw of `work` rolls
   * back and is rethrown; a lost lease rolls back and answers `leaseLost`; a failed commit throws. When the signal
   * aborts, the work is given up: the transaction is rolled back at once, whatever runs in it, and the call rejects.
   */
  completeInTransaction(
    lease: Lease,
    work: (transaction: TTransaction) => Promise<void>,
    options?: SettleOptions,
  ): Promise<SettleResult>
}

/** What operators do. */
export interface MessageAdministration {
  /** One message by id. */
  get(id: string): Promise<MessageRecord | undefined>
  /** One page of messages. */
  query(query: MessageQuery): Promise<MessagePage>
  /** Makes parked messages pending again: attempts reset, history and first failure kept. At most `limit` (default 1000). */
  requeue(filter: MessageFilter, options?: { readonly limit?: number }): Promise<RequeueResult>
  /**
   * Deletes messages that are not leased and answers how many. A filter without any field needs `all: true`.
   *
   * @throws InvalidOperationError for an unrestricted purge without confirmation.
   */
  purge(filter: MessageFilter, options?: { readonly all?: boolean; readonly limit?: number }): Promise<number>
  /** Counts by state. */
  statusCounts(): Promise<StatusCounts>
  /** Deletes succeeded messages by the time they succeeded. */
  runRetention(request?: RetentionRequest): Promise<RetentionResult>
  /** Version of the installed schema. */
  schemaInfo(): Promise<SchemaInfo>
}

/** Tells when to look. */
export interface WorkSignal {
  /**
   * Resolves when work may have arrived, at the latest after `maxWaitMs`, at once when the signal aborts. Never
   * rejects: polling goes on when the signal is degraded.
   */
  waitForWork(signal: AbortSignal, maxWaitMs: number): Promise<void>
  /** True while a signal that is configured does not work, so that work is found by polling only. */
  isWorkSignalDegraded(): boolean
}

/** One store of one axis: the composition of the narrow roles. */
export interface MessageStore<TTransaction = unknown>
  extends MessageAppender<TTransaction>, MessageLeaser<TTransaction>, MessageAdministration, WorkSignal {
  /** Which axis this store holds. */
  readonly axis: Axis
  /** Resolves when the store can be used, throws {@link StoreUnavailableError} otherwise. */
  probe(): Promise<void>
}
