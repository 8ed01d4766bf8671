import {
  failureOfResult,
  isLiteBusError,
  type HandlerContext,
  type HandlerRegistry,
  type HandlerResult,
  type LeasedEnvelope,
  type MessageStore,
  type RegisteredHandler,
} from '@litebus/core'
import type { DispatchContext, Dispatcher, DispatchOutcome } from '@litebus/processing'

/** What handler dispatch works with. */
export interface HandlerDispatcherOptions<TTransaction> {
  /** Handlers by contract. */
  readonly registry: HandlerRegistry<TTransaction>
  /** Store whose transactions complete messages. */
  readonly store: Pick<MessageStore<TTransaction>, 'completeInTransaction'>
}

/** Dispatches leased messages to handlers. */
export function createHandlerDispatcher<TTransaction>({
  registry,
  store,
}: HandlerDispatcherOptions<TTransaction>): Dispatcher {
  return {
    async dispatch(envelope, context) {
      const { contractName, contractVersion, body } = envelope.message
      const { contract, message } = await registry.contracts.decode(contractName, contractVersion, body)
      const handler = registry.find(contract.name, contract.version)
      const call: HandlerCall<TTransaction> = { handler, message, envelope, context }
      if (handler.transactional === true) return dispatchInTransaction(store, call)
      return outcomeOf(await handler.handle(message, handlerContext(call)))
    },
  }
}

interface HandlerCall<TTransaction> {
  readonly handler: RegisteredHandler<TTransaction>
  readonly message: unknown
  readonly envelope: LeasedEnvelope
  readonly context: DispatchContext
}

/** Thrown through the store to roll back what a handler that asks for a retry or rejects has done. */
class RolledBack extends Error {
  readonly outcome: DispatchOutcome
  constructor(outcome: DispatchOutcome) {
    super('rolled back at the request of the handler')
    this.outcome = outcome
  }
}

async function dispatchInTransaction<TTransaction>(
  store: Pick<MessageStore<TTransaction>, 'completeInTransaction'>,
  call: HandlerCall<TTransaction>,
): Promise<DispatchOutcome> {
  const { handler, message, envelope, context } = call
  const progress = { handled: false }
  try {
    const work = async (transaction: TTransaction): Promise<void> => {
      const outcome = outcomeOf(await handler.handle(message, handlerContext(call, transaction)))
      if (outcome.kind !== 'succeeded') throw new RolledBack(outcome)
      progress.handled = true
    }
    const result = await store.completeInTransaction(envelope.lease, work, { signal: context.givenUp })
    return result === 'applied' ? { kind: 'settled' } : { kind: 'leaseLost' }
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome
    // The handler was done: whether the commit took place is unknown, so nothing may be written about it.
    if (progress.handled && isLiteBusError(error, 'STORE_UNAVAILABLE')) return { kind: 'persistFailed' }
    throw error
  }
}

function outcomeOf(result: HandlerResult): DispatchOutcome {
  const failed = failureOfResult(result)
  return failed === undefined ? { kind: 'succeeded' } : { kind: 'failed', ...failed }
}

/** Never spread: that would ask for the signal, which is made only for handlers that do. */
function handlerContext<TTransaction>(
  { handler, envelope: { message, attempt }, context }: HandlerCall<TTransaction>,
  transaction?: TTransaction,
): HandlerContext<TTransaction> {
  const { tenantId, orderingKey, correlationId, causationId, trace } = message
  return {
    messageId: message.id,
    handler: handler.name,
    sent: new Map(),
    contract: { name: message.contractName, version: message.contractVersion },
    attempt,
    headers: message.headers ?? {},
    createdAt: message.createdAt,
    stopping: context.stopping,
    get signal() {
      return context.signal
    },
    ...(transaction === undefined ? {} : { transaction }),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(orderingKey === undefined ? {} : { orderingKey }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(causationId === undefined ? {} : { causationId }),
    ...(trace === undefined ? {} : { trace }),
  }
}
