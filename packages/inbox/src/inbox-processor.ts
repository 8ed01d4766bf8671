import { createHandlerRegistry, OptionsError, type AnyMessageHandler, type MessageStore } from '@litebus/core'
import { createProcessor, type Processor, type ProcessorTuning } from '@litebus/processing'
import { createHandlerDispatcher } from './handler-dispatcher.ts'

/** Options of {@link createInboxProcessor}. */
export interface InboxProcessorOptions<TTransaction> extends ProcessorTuning {
  /** Inbox face of a store. */
  readonly store: MessageStore<TTransaction>
  /** Handlers, one a contract and version. */
  readonly handlers: readonly AnyMessageHandler<TTransaction>[]
}

/**
 * Builds the processor that runs handlers for accepted messages.
 *
 * @throws OptionsError when the store is not an inbox, or handlers or options are not valid.
 */
export function createInboxProcessor<TTransaction>({
  handlers,
  ...options
}: InboxProcessorOptions<TTransaction>): Processor {
  if (options.store.axis !== 'inbox') {
    throw new OptionsError('inbox processor', [
      `expected the inbox face of a store, found the ${options.store.axis}`,
    ])
  }
  const registry = createHandlerRegistry(handlers)
  const dispatcher = createHandlerDispatcher({ registry, store: options.store })
  return createProcessor({ ...options, dispatcher })
}
