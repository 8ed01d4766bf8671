import { ArgumentError } from '../errors/errors.ts'
import type { HandlerContext } from './handler-context.ts'
import { handlerFaults } from './handler-faults.ts'
import type { HandlerReturn, MessageHandler, TransactionalContext } from './message-handler.ts'

/**
 * Declares a handler; the type of the message comes from the contract.
 *
 * @throws ArgumentError when contract or function are missing, or an option does not exist.
 */
export function defineHandler<T, TTransaction = unknown>(
  handler: MessageHandler<T, TTransaction>,
): MessageHandler<T, TTransaction> {
  requireHandler(handler)
  return Object.freeze({ ...handler })
}

function requireHandler(given: unknown): void {
  const faults = handlerFaults(given)
  if (faults.length > 0) throw new ArgumentError(faults.join('; '))
}

/**
 * Declares a handler whose effects and whose completion are one transaction of the store.
 *
 * @throws ArgumentError when contract or function are missing, or `transactional` is given as false.
 */
export function defineTransactionalHandler<T, TTransaction>(
  handler: Omit<MessageHandler<T, TTransaction>, 'handle'> & {
    readonly handle: (message: T, context: TransactionalContext<TTransaction>) => HandlerReturn
  },
): MessageHandler<T, TTransaction> {
  requireHandler(handler)
  if (handler.transactional === false)
    throw new ArgumentError('expected a transactional handler, found transactional: false')
  const { handle } = handler
  return Object.freeze({
    ...handler,
    transactional: true,
    handle: (message: T, context: HandlerContext<TTransaction>) =>
      handle(message, context as TransactionalContext<TTransaction>),
  })
}
