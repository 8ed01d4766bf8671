import type { MessageContract } from '../contracts/message-contract.ts'
import type { HandlerIdentity } from '../handlers/handler-context.ts'
import type { Idempotency, MessageMetadata, Visibility } from '../messages/new-message.ts'
import type { TraceContext } from '../messages/trace-context.ts'

/** Options of one write, common to inbox and outbox. */
export interface WriteOptions extends Omit<MessageMetadata, 'sourceId'> {
  /** Identity of the message, a UUID. @defaultValue a new UUIDv7, or derived from `from` */
  readonly messageId?: string
  /** Idempotency key and what happens when it is taken. @defaultValue none */
  readonly idempotency?: Idempotency
  /** When the message becomes due. @defaultValue at once */
  readonly visibility?: Visibility
  /**
   * Bytes that were received, stored unchanged instead of serializing `message`. They are decoded and validated under
   * the contract first, as the handler will do.
   */
  readonly body?: Uint8Array
  /**
   * True: the caller has decoded and validated `body` under this contract itself, as an ingress does before it accepts,
   * so that it is not done twice. @defaultValue false
   */
  readonly bodyIsValidated?: boolean
  /**
   * Context of the handler that sends: the id is derived from it, so that a retried handler sends the same message;
   * tenant, correlation id and trace are inherited, and the handled message becomes the cause.
   */
  readonly from?: HandlerIdentity
  /** Tells apart two sends of one handler; otherwise body and occurrence do. */
  readonly sendKey?: string
  /** At ingress: the id under which the source delivered it. */
  readonly sourceId?: string
}

/** Options of a write with the caller's transaction. */
export interface TransactionalWriteOptions<TTransaction> extends WriteOptions {
  /** The caller's own open transaction, as the store takes it. */
  readonly transaction?: TTransaction
}

/** One slot of a batch write. */
export interface WriteItem {
  /** Contract of the message. */
  readonly contract: MessageContract<unknown>
  /** The message. */
  readonly message: unknown
  /** Options of this slot. */
  readonly options?: WriteOptions
}

/** Options of a batch write. */
export interface BatchOptions<TTransaction> {
  /** The caller's own open transaction, as the store takes it. */
  readonly transaction?: TTransaction
}

/** What both receipts say: the message is stored; nothing about handling or publishing. */
interface Receipt {
  /** Message id. */
  readonly id: string
  /** Contract of the stored message. */
  readonly contract: { readonly name: string; readonly version: number }
  /** Tenant of the stored message. */
  readonly tenantId?: string
  /** Trace context of the stored message. */
  readonly trace?: TraceContext
}

/** Confirms that a message is stored in the inbox. */
export interface InboxReceipt extends Receipt {
  /** When it was stored, by the clock of the store. */
  readonly acceptedAt: Date
  /** Stored by this call, or before. */
  readonly outcome: 'accepted' | 'alreadyAccepted'
}

/** Confirms that a message is stored in the outbox. */
export interface OutboxReceipt extends Receipt {
  /** When it was stored, by the clock of the store. */
  readonly enqueuedAt: Date
  /** Stored by this call, or before. */
  readonly outcome: 'enqueued' | 'alreadyEnqueued'
}

/** Writes into the inbox. */
export interface Inbox<TTransaction = unknown> {
  /** What it accepts, for checks at construction. @defaultValue not known before a message is written */
  readonly contracts?: readonly Pick<MessageContract<unknown>, 'name' | 'version'>[]
  /** Validates, serializes and stores one message. See `MessageAppender.append` for the errors. */
  accept<T>(
    contract: MessageContract<T>,
    message: T,
    options?: TransactionalWriteOptions<TTransaction>,
  ): Promise<InboxReceipt>
  /** Stores all messages or none, in one statement; one receipt a slot. */
  acceptBatch(
    items: readonly WriteItem[],
    options?: BatchOptions<TTransaction>,
  ): Promise<readonly InboxReceipt[]>
}

/** Writes into the outbox. */
export interface Outbox<TTransaction = unknown> {
  /** Validates, serializes and stores one message. See `MessageAppender.append` for the errors. */
  enqueue<T>(
    contract: MessageContract<T>,
    message: T,
    options?: TransactionalWriteOptions<TTransaction>,
  ): Promise<OutboxReceipt>
  /** Stores all messages or none, in one statement; one receipt a slot. */
  enqueueBatch(
    items: readonly WriteItem[],
    options?: BatchOptions<TTransaction>,
  ): Promise<readonly OutboxReceipt[]>
}
