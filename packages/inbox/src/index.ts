export {
  defineHandler,
  defineTransactionalHandler,
  type AnyMessageHandler,
  type MessageHandler,
  type TransactionalContext,
} from './handler.ts'
export { createInbox, type InboxOptions } from './inbox.ts'
export { createInboxProcessor, type InboxProcessorOptions } from './inbox-processor.ts'
