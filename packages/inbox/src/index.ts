export { defineHandler, defineTransactionalHandler } from '@litebus/core'
export { createInbox, type InboxOptions } from './inbox.ts'
export { createInboxProcessor, type InboxProcessorOptions } from './inbox-processor.ts'
