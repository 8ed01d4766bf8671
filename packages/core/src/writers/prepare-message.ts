import type { ContractRegistry } from '../contracts/contract-registry.ts'
import { encodeMessage } from '../contracts/contract-registry.ts'
import type { MessageContract } from '../contracts/message-contract.ts'
import { ArgumentError, MessageContractNotRegisteredError } from '../errors/errors.ts'
import { idOfSend } from '../ids/deterministic-ids.ts'
import { normalizeUuid, uuidV7 } from '../ids/uuid.ts'
import type { NewMessage } from '../messages/new-message.ts'
import { definedOptions } from '../options/defined-options.ts'
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
  const { contract, message, options = {} } = item
  if (options.body !== undefined && options.bodyIsValidated === true) {
    return prepareValidated(item, options.body, settings)
  }
  refuseFaults(options)
  const body = options.body ?? (await serialize(contract, message, settings.registry))
  refuseTooLarge(body, settings)
  // What is accepted here and cannot be read at the other end would be lost there, after the sender heard of success.
  if (options.body !== undefined) await settings.registry.decode(contract.name, contract.version, body)
  return newMessage(contract, options, body)
}

/** The same for a message that brings its body and was validated: nothing has to be waited for. */
export function prepareValidated(
  { contract, options = {} }: WriteItem,
  body: Uint8Array,
  settings: WriterSettings,
): NewMessage {
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
  return {
    id: identify(name, options, body),
    contractName: name,
    contractVersion: version,
    body,
    ...metadata(options),
  }
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

function identify(contractName: string, options: WriteOptions, body: Uint8Array): string {
  if (options.messageId !== undefined) return normalizeUuid(options.messageId)
  const { from, sendKey } = options
  if (from === undefined) return uuidV7()
  return idOfSend({ from, contractName, body, ...(sendKey === undefined ? {} : { sendKey }) })
}

function metadata(
  options: WriteOptions,
): Omit<NewMessage, 'id' | 'contractName' | 'contractVersion' | 'body'> {
  const { from } = options
  const tenantId = options.tenantId ?? from?.tenantId
  return definedOptions({
    tenantId: tenantId === '' ? undefined : tenantId,
    orderingKey: options.orderingKey,
    topic: options.topic,
    correlationId: options.correlationId ?? from?.correlationId,
    causationId: options.causationId ?? from?.messageId,
    trace: options.trace ?? from?.trace,
    headers: options.headers,
    sourceId: options.sourceId,
    idempotency: options.idempotency,
    visibility: options.visibility,
  })
}
