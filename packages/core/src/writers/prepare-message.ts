import type { ContractRegistry } from '../contracts/contract-registry.ts'
import { encodeMessage } from '../contracts/contract-registry.ts'
import type { MessageContract } from '../contracts/message-contract.ts'
import { ArgumentError, MessageContractNotRegisteredError } from '../errors/errors.ts'
import { idOfSend } from '../ids/deterministic-ids.ts'
import { normalizeUuid, uuidV7 } from '../ids/uuid.ts'
import type { NewMessage } from '../messages/new-message.ts'
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
export async function prepareMessage(
  { contract, message, options = {} }: WriteItem,
  settings: WriterSettings,
): Promise<NewMessage> {
  const faults = writeFaults(options)
  if (faults.length > 0) throw new ArgumentError(faults.join('; '))
  const body = options.body ?? (await serialize(contract, message, settings.registry))
  if (settings.maxMessageBytes > 0 && body.byteLength > settings.maxMessageBytes) {
    throw new ArgumentError(
      `expected a body of at most ${String(settings.maxMessageBytes)} bytes, found ${String(body.byteLength)}; raise maxMessageBytes, or send a reference`,
    )
  }
  if (options.body !== undefined) await checkReceived(contract, options, settings.registry)
  return {
    id: identify(contract, options, body),
    contractName: contract.name,
    contractVersion: contract.version,
    body,
    ...metadata(options),
  }
}

/** What is accepted here and cannot be read at the other end would be lost there, after the sender heard of success. */
async function checkReceived(
  { name, version }: MessageContract<unknown>,
  { body, bodyIsValidated }: WriteOptions,
  registry: ContractRegistry,
): Promise<void> {
  registry.resolve(name, version)
  if (body !== undefined && bodyIsValidated !== true) await registry.decode(name, version, body)
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

function identify(contract: MessageContract<unknown>, options: WriteOptions, body: Uint8Array): string {
  if (options.messageId !== undefined) return normalizeUuid(options.messageId)
  const { from, sendKey } = options
  if (from === undefined) return uuidV7()
  return idOfSend({ from, contractName: contract.name, body, ...(sendKey === undefined ? {} : { sendKey }) })
}

function metadata(
  options: WriteOptions,
): Omit<NewMessage, 'id' | 'contractName' | 'contractVersion' | 'body'> {
  const { from } = options
  const tenantId = options.tenantId ?? from?.tenantId
  const fields = {
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
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
