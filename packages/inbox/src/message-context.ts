import type { HandlerContext, LeasedEnvelope, RegisteredHandler, TraceContext } from '@litebus/core'
import type { DispatchContext } from '@litebus/processing'

/**
 * What a handler knows about a leased message. A class, so that the abort signal is made only when a handler asks for
 * it: a getter on each object would cost more than the rest of the context.
 */
export class MessageContext<TTransaction> implements HandlerContext<TTransaction> {
  readonly messageId: string
  readonly handler: string
  readonly sent: Map<string, number> = new Map()
  readonly contract: { readonly name: string; readonly version: number }
  readonly attempt: number
  readonly headers: Readonly<Record<string, string>>
  readonly createdAt: Date
  readonly stopping: AbortSignal
  declare readonly tenantId?: string
  declare readonly orderingKey?: string
  declare readonly correlationId?: string
  declare readonly causationId?: string
  declare readonly trace?: TraceContext
  declare readonly transaction?: TTransaction
  readonly #dispatch: DispatchContext

  /** `transaction` is the one that completes the message, if there is one. */
  constructor(
    { name }: Pick<RegisteredHandler<TTransaction>, 'name'>,
    { message, attempt }: LeasedEnvelope,
    { dispatch, transaction }: { readonly dispatch: DispatchContext; readonly transaction?: TTransaction },
  ) {
    this.messageId = message.id
    this.handler = name
    this.contract = { name: message.contractName, version: message.contractVersion }
    this.attempt = attempt
    this.headers = message.headers ?? {}
    this.createdAt = message.createdAt
    this.stopping = dispatch.stopping
    this.#dispatch = dispatch
    if (message.tenantId !== undefined) this.tenantId = message.tenantId
    if (message.orderingKey !== undefined) this.orderingKey = message.orderingKey
    if (message.correlationId !== undefined) this.correlationId = message.correlationId
    if (message.causationId !== undefined) this.causationId = message.causationId
    if (message.trace !== undefined) this.trace = message.trace
    if (transaction !== undefined) this.transaction = transaction
  }

  get signal(): AbortSignal {
    return this.#dispatch.signal
  }
}
