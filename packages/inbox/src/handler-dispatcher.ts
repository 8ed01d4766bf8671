import {
  failureOfResult,
  isLiteBusError,
  type HandlerRegistry,
  type HandlerResult,
  type LeasedEnvelope,
  type MessageStore,
  type RegisteredHandler,
} from '@litebus/core'
import type { DispatchContext, Dispatcher, DispatchOutcome } from '@litebus/processing'
import { MessageContext } from './message-context.ts'

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
      const { contractName, contractVersion, text } = envelope.message
      const body = text ?? envelope.message.body
      const decoded = registry.contracts.decodeNow(contractName, contractVersion, body)
      const { contract, message } = decoded instanceof Promise ? await decoded : decoded
      const handler = registry.find(contract.name, contract.version)
      const call: HandlerCall<TTransaction> = { handler, message, envelope, context }
      if (handler.transactional === true) return dispatchInTransaction(store, call)
      return outcomeOf(await handler.handle(message, contextOf(call)))
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
      const outcome = outcomeOf(await handler.handle(message, contextOf(call, transaction)))
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

function contextOf<TTransaction>(
  { handler, envelope, context }: HandlerCall<TTransaction>,
  transaction?: TTransaction,
): MessageContext<TTransaction> {
  const parts = transaction === undefined ? { dispatch: context } : { dispatch: context, transaction }
  return new MessageContext(handler, envelope, parts)
}
