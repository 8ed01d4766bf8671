import { createContractRegistry } from '../contracts/contract-registry.ts'
import type { MessageContract } from '../contracts/message-contract.ts'
import { OptionsError } from '../errors/errors.ts'
import type { Axis } from '../messages/message-state.ts'
import type { TraceContext } from '../messages/trace-context.ts'
import type { Mutable } from '../options/mutable.ts'
import { checkOptions } from '../options/option-checks.ts'
import { readOptions, type OptionShape } from '../options/read-options.ts'
import type { AppendResult, MessageStore, StoredReceipt } from '../ports/message-store.ts'
import type { BatchOptions, TransactionalWriteOptions, WriteItem } from '../ports/writers.ts'
import { batchNames, refuseMisspelt, slotNames, writeNames } from './option-names.ts'
import { isValidated, prepareMessage, prepareValidated, type WriterSettings } from './prepare-message.ts'

/** Options of a writer of either axis. */
export interface WriterOptions<TTransaction> {
  /** Face of a store. */
  readonly store: Pick<MessageStore<TTransaction>, 'axis' | 'append'>
  /** Contracts that may be written. */
  readonly contracts: readonly MessageContract<unknown>[]
  /** Largest body in bytes; 0 means no limit. @defaultValue 4 MiB */
  readonly maxMessageBytes?: number
  /**
   * `commit`: producers of one ordering key take turns, so that their messages keep commit order.
   * @defaultValue 'happensBefore'
   */
  readonly ordering?: 'happensBefore' | 'commit'
}

const writerShape: OptionShape<WriterOptions<never>> = {
  store: { members: ['axis', 'append'] },
  contracts: 'list',
  maxMessageBytes: 'any?',
  ordering: 'any?',
}

/** What both writers do: prepare, append, answer slot by slot. */
export interface MessageWriter<TTransaction> {
  /** Writes all items or none. */
  write(items: readonly WriteItem[], options?: BatchOptions<TTransaction>): Promise<readonly AppendResult[]>
  /** Writes one message. */
  writeOne<T>(
    contract: MessageContract<T>,
    message: T,
    options?: TransactionalWriteOptions<TTransaction>,
  ): Promise<AppendResult>
}

/**
 * Builds a writer of an axis.
 *
 * @throws OptionsError when the store is of the other axis, or options are not valid.
 */
export function createMessageWriter<TTransaction>(
  axis: Axis,
  given: WriterOptions<TTransaction>,
): MessageWriter<TTransaction> {
  const {
    store,
    contracts,
    maxMessageBytes = 4 * 1024 * 1024,
    ordering = 'happensBefore',
  } = readOptions(axis, given, { shape: writerShape })
  const checks = checkOptions()
  checks.that(store.axis === axis, `expected the ${axis} face of a store, found the ${store.axis}`)
  checks.integer('maxMessageBytes', maxMessageBytes, { min: 0 })
  checks.that(
    ['happensBefore', 'commit'].includes(ordering),
    `expected ordering to be 'happensBefore' or 'commit', found ${ordering}`,
  )
  if (checks.faults.length > 0) throw new OptionsError(axis, checks.faults)
  const settings: WriterSettings = { registry: createContractRegistry(contracts), maxMessageBytes }

  const write: MessageWriter<TTransaction>['write'] = async (items, batch = {}) => {
    refuseMisspelt(axis, batch, batchNames)
    const { transaction } = batch
    for (const item of items) if (item.options !== undefined) refuseMisspelt(axis, item.options, slotNames)
    const messages = items.every(isValidated)
      ? items.map((item) => prepareValidated(item, settings))
      : await Promise.all(items.map((item) => prepareMessage(item, settings)))
    if (messages.length === 0) return []
    return store.append(messages, transaction === undefined ? { ordering } : { ordering, transaction })
  }
  return {
    write,
    async writeOne(contract, message, options = {}) {
      refuseMisspelt(axis, options, writeNames)
      const { transaction, ...slot } = options
      const items = [{ contract, message, options: slot }]
      const [result] = await write(items, transaction === undefined ? {} : { transaction })
      if (result === undefined)
        throw new OptionsError(axis, ['expected one result a message from the store, found none'])
      return result
    },
  }
}

/** The part of a receipt that both axes share. */
export function receiptOf(receipt: StoredReceipt): {
  readonly id: string
  readonly contract: { readonly name: string; readonly version: number }
  readonly tenantId?: string
  readonly trace?: TraceContext
} {
  const { id, contractName, contractVersion, tenantId, trace } = receipt
  const shared: Mutable<ReturnType<typeof receiptOf>> = {
    id,
    contract: { name: contractName, version: contractVersion },
  }
  if (tenantId !== undefined) shared.tenantId = tenantId
  if (trace !== undefined) shared.trace = trace
  return shared
}
