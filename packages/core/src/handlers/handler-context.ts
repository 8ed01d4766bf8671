import type { TraceContext } from '../messages/trace-context.ts'

/** What identifies one handler at work on one message; ids of what it sends are derived from it. */
export interface HandlerIdentity {
  /** Id of the message that is handled. */
  readonly messageId: string
  /** Name of the handler, unique within its service. */
  readonly handler: string
  /** Counts what the handler sent, by digest; owned by the library, fresh for each attempt. */
  readonly sent: Map<string, number>
  /** Tenant of the message that is handled; what is sent inherits it. */
  readonly tenantId?: string
  /** Correlation id of the message that is handled; what is sent inherits it. */
  readonly correlationId?: string
  /** Trace context of the message that is handled; what is sent inherits it. */
  readonly trace?: TraceContext
}

/** What a handler knows about the message it handles. */
export interface HandlerContext<TTransaction = unknown> extends HandlerIdentity {
  /** Contract of the message as stored. */
  readonly contract: { readonly name: string; readonly version: number }
  /** 1-based number of this attempt. */
  readonly attempt: number
  /** Aborts when the lease is lost, the execution budget is used up, or the grace of a stop is over. */
  readonly signal: AbortSignal
  /** Aborts as soon as a stop is asked for: finish, do not begin anything long. */
  readonly stopping: AbortSignal
  /** The transaction that completes the message, for transactional handlers. */
  readonly transaction?: TTransaction
  /** Ordering key. */
  readonly orderingKey?: string
  /** Causation id. */
  readonly causationId?: string
  /** Application headers. */
  readonly headers: Readonly<Record<string, string>>
  /** When the message was stored, or published. */
  readonly createdAt?: Date
}
