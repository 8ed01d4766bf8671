import {
  createHandlerRegistry,
  OptionsError,
  readOptions,
  type AnyMessageHandler,
  type MessageStore,
  type OptionShape,
} from '@litebus/core'
import {
  createProcessor,
  processorStoreRule,
  processorTuningShape,
  type Processor,
  type ProcessorTuning,
} from '@litebus/processing'
import { createHandlerDispatcher } from './handler-dispatcher.ts'

/** Options of {@link createInboxProcessor}. */
export interface InboxProcessorOptions<TTransaction> extends ProcessorTuning {
  /** Inbox face of a store. */
  readonly store: MessageStore<TTransaction>
  /** Handlers, one a contract and version. */
  readonly handlers: readonly AnyMessageHandler<TTransaction>[]
}

const shape: OptionShape<InboxProcessorOptions<never>> = {
  ...processorTuningShape,
  store: processorStoreRule,
  handlers: 'list',
}

/**
 * Builds the processor that runs handlers for accepted messages.
 *
 * @throws OptionsError when the store is not an inbox, or handlers or options are not valid.
 */
export function createInboxProcessor<TTransaction>(given: InboxProcessorOptions<TTransaction>): Processor {
  const { handlers, ...options } = readOptions('inbox processor', given, { shape })
  if (options.store.axis !== 'inbox') {
    throw new OptionsError('inbox processor', [
      `expected the inbox face of a store, found the ${options.store.axis}`,
    ])
  }
  const registry = createHandlerRegistry(handlers)
  const dispatcher = createHandlerDispatcher({ registry, store: options.store })
  return createProcessor({ ...options, dispatcher })
}
