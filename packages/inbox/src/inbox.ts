import {
  createMessageWriter,
  receiptOf,
  type AppendResult,
  type Inbox,
  type InboxReceipt,
  type WriterOptions,
} from '@litebus/core'

/** Options of {@link createInbox}. */
export type InboxOptions<TTransaction> = WriterOptions<TTransaction>

/**
 * Builds the writer of an inbox.
 *
 * @throws OptionsError when the store is not an inbox, or options are not valid.
 */
export function createInbox<TTransaction>(options: InboxOptions<TTransaction>): Inbox<TTransaction> {
  const writer = createMessageWriter('inbox', options)
  return {
    contracts: Object.freeze(options.contracts.map(({ name, version }) => Object.freeze({ name, version }))),
    accept: async (contract, message, write) => inboxReceipt(await writer.writeOne(contract, message, write)),
    acceptBatch: async (items, batch) => (await writer.write(items, batch)).map(inboxReceipt),
  }
}

function inboxReceipt({ status, receipt }: AppendResult): InboxReceipt {
  const outcome = status === 'inserted' ? 'accepted' : 'alreadyAccepted'
  return Object.assign(receiptOf(receipt), { acceptedAt: receipt.createdAt, outcome } as const)
}
