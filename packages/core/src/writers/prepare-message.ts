import type { ContractRegistry } from '../contracts/contract-registry.ts'
import { encodeMessage } from '../contracts/contract-registry.ts'
import type { MessageContract } from '../contracts/message-contract.ts'
import { ArgumentError, MessageContractNotRegisteredError } from '../errors/errors.ts'
import { idOfSend } from '../ids/deterministic-ids.ts'
import { normalizeUuid, uuidV7 } from '../ids/uuid.ts'
import type { NewMessage } from '../messages/new-message.ts'
import type { Mutable } from '../options/mutable.ts'
import type { WriteItem, WriteOptions } from '../ports/writers.ts'
import { writeFaults } from './write-faults.ts'

/** What a writer knows besides the message. */
export interface WriterSettings {
  /** Contracts that may be written. */
  readonly registry: ContractRegistry
  /** Largest body in bytes; 0 means no limit. */
  readonly maxMessageBytes: number
}

/**
 * Validates, serializes and identifies one message before any write; when it throws, nothing was written.
 *
 * @throws ArgumentError when an option is not valid or the body is too large.
 * @throws MessageContractNotRegisteredError when the contract is not registered.
 * @throws PayloadError when the message is refused by its schema or cannot be serialized, or received bytes cannot be
 * decoded or are refused.
 */
export async function prepareMessage(item: WriteItem, settings: WriterSettings): Promise<NewMessage> {
  if (isValidated(item)) return prepareValidated(item, settings)
  const { contract, message, options = {} } = item
  refuseFaults(options)
  const body = options.body ?? (await serialize(contract, message, settings.registry))
  refuseTooLarge(body, settings)
  // What is accepted here and cannot be read at the other end would be lost there, after the sender heard of success.
  if (options.body !== undefined) await settings.registry.decode(contract.name, contract.version, body)
  return newMessage(contract, options, body)
}

/** A message that brings the body that was validated. */
export type ValidatedItem = WriteItem & { readonly options: WriteOptions & { readonly body: Uint8Array } }

/** Whether a message brings the body that was validated. */
export function isValidated(item: WriteItem): item is ValidatedItem {
  const { options } = item
  return options?.body !== undefined && options.bodyIsValidated === true
}

/** The same for such a message: nothing has to be waited for. */
export function prepareValidated({ contract, options }: ValidatedItem, settings: WriterSettings): NewMessage {
  const { body } = options
  refuseFaults(options)
  refuseTooLarge(body, settings)
  settings.registry.resolve(contract.name, contract.version)
  return newMessage(contract, options, body)
}

function refuseFaults(options: WriteOptions): void {
  const faults = writeFaults(options)
  if (faults.length > 0) throw new ArgumentError(faults.join('; '))
}

function refuseTooLarge(body: Uint8Array, { maxMessageBytes }: WriterSettings): void {
  if (maxMessageBytes === 0 || body.byteLength <= maxMessageBytes) return
  throw new ArgumentError(
    `expected a body of at most ${String(maxMessageBytes)} bytes, found ${String(body.byteLength)}; raise maxMessageBytes, or send a reference`,
  )
}

function newMessage(
  { name, version }: Pick<MessageContract<unknown>, 'name' | 'version'>,
  options: WriteOptions,
  body: Uint8Array,
): NewMessage {
  const { orderingKey, topic, headers, sourceId, idempotency, visibility, from } = options
  const tenantId = options.tenantId ?? from?.tenantId
  const correlationId = options.correlationId ?? from?.correlationId
  const causationId = options.causationId ?? from?.messageId
  const trace = options.trace ?? from?.trace
  const given = givenId(name, options, body)
  const message: Mutable<NewMessage> = {
    id: given ?? uuidV7(),
    contractName: name,
    contractVersion: version,
    body,
  }
  if (given === undefined) message.idIsNew = true
  if (tenantId !== undefined && tenantId !== '') message.tenantId = tenantId
  if (orderingKey !== undefined) message.orderingKey = orderingKey
  if (topic !== undefined) message.topic = topic
  if (correlationId !== undefined) message.correlationId = correlationId
  if (causationId !== undefined) message.causationId = causationId
  if (trace !== undefined) message.trace = trace
  if (headers !== undefined) message.headers = headers
  if (sourceId !== undefined) message.sourceId = sourceId
  if (idempotency !== undefined) message.idempotency = idempotency
  if (visibility !== undefined) message.visibility = visibility
  return message
}

async function serialize(
  contract: MessageContract<unknown>,
  message: unknown,
  registry: ContractRegistry,
): Promise<Uint8Array> {
  const registered = registry.resolve(contract.name, contract.version)
  if (registered.version !== contract.version) {
    throw new MessageContractNotRegisteredError(
      `expected contract ${contract.name} in version ${String(registered.version)}, found version ${String(contract.version)}; write the version that is registered`,
    )
  }
  return encodeMessage(registered, message)
}

/** The id that is given, or that a send has by its place; `undefined`: any new one will do. */
function givenId(contractName: string, options: WriteOptions, body: Uint8Array): string | undefined {
  if (options.messageId !== undefined) return normalizeUuid(options.messageId)
  const { from, sendKey } = options
  if (from === undefined) return undefined
  return idOfSend({ from, contractName, body, ...(sendKey === undefined ? {} : { sendKey }) })
}
