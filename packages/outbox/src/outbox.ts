import {
  createMessageWriter,
  receiptOf,
  type AppendResult,
  type Outbox,
  type OutboxReceipt,
  type WriterOptions,
} from '@litebus/core'

/** Options of {@link createOutbox}. */
export type OutboxOptions<TTransaction> = WriterOptions<TTransaction>

/**
 * Builds the writer of an outbox.
 *
 * @throws OptionsError when the store is not an outbox, or options are not valid.
 */
export function createOutbox<TTransaction>(options: OutboxOptions<TTransaction>): Outbox<TTransaction> {
  const writer = createMessageWriter('outbox', options)
  return {
    enqueue: async (contract, message, write) =>
      outboxReceipt(await writer.writeOne(contract, message, write)),
    enqueueBatch: async (items, batch) => (await writer.write(items, batch)).map(outboxReceipt),
  }
}

function outboxReceipt({ status, receipt }: AppendResult): OutboxReceipt {
  const outcome = status === 'inserted' ? 'enqueued' : 'alreadyEnqueued'
  return { ...receiptOf(receipt), enqueuedAt: receipt.createdAt, outcome }
}
