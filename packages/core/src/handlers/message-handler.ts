import type { MessageContract } from '../contracts/message-contract.ts'
import type { HandlerContext } from './handler-context.ts'
import type { HandlerResult } from './handler-result.ts'

/** What a handler function returns: a result, or nothing, at once or later. */
export type HandlerReturn = Promise<HandlerResult> | Promise<void> | HandlerResult | void

/** Handles messages of one contract. */
export interface MessageHandler<T, TTransaction = unknown> {
  /** Contract in the version that the handler knows; older stored versions are lifted to it. */
  readonly contract: MessageContract<T>
  /** Name, unique within the service; ids of what the handler sends depend on it. @defaultValue the contract name */
  readonly name?: string
  /** True: the handler runs in the transaction that completes its message. @defaultValue false */
  readonly transactional?: boolean
  /** Does the work. Returns nothing, `retry(...)` or `reject(...)`; a throw is a failure. */
  readonly handle: (message: T, context: HandlerContext<TTransaction>) => HandlerReturn
}

/** A handler of any contract, as lists of handlers hold them. */
export interface AnyMessageHandler<TTransaction = unknown> extends Omit<
  MessageHandler<unknown, TTransaction>,
  'handle'
> {
  /** Does the work; the message has the type of the contract. */
  readonly handle: (message: never, context: HandlerContext<TTransaction>) => HandlerReturn
}

/** A handler that runs in the transaction that completes its message: its effects in the same database happen once. */
export interface TransactionalContext<TTransaction> extends HandlerContext<TTransaction> {
  /** The open transaction. It is committed by the library, after the handler. */
  readonly transaction: TTransaction
}
