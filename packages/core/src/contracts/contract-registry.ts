import type { StandardSchemaV1 } from '@standard-schema/spec'
import { MessageContractNotRegisteredError, OptionsError, PayloadError } from '../errors/errors.ts'
import { jsonSerializer } from './json-serializer.ts'
import { contractFaults } from './contract-faults.ts'
import type { MessageContract } from './message-contract.ts'

const encoder = new TextEncoder()

/** A message with the registered contract whose version it now has. */
export interface DecodedMessage {
  /** The contract that is registered here. */
  readonly contract: MessageContract<unknown>
  /** The message, lifted and validated. */
  readonly message: unknown
}

/** The contracts that a service knows. */
export interface ContractRegistry {
  /** The contract that handles messages of this name and version, directly or by upcasting. */
  resolve(name: string, version: number): MessageContract<unknown>
  /** Parses, lifts and validates a body, given as bytes or as the text of UTF-8 bytes. */
  decode(name: string, version: number, body: Uint8Array | string): Promise<DecodedMessage>
  /** The same without a promise where no schema has to be waited for; it throws then where `decode` rejects. */
  decodeNow(
    name: string,
    version: number,
    body: Uint8Array | string,
  ): DecodedMessage | Promise<DecodedMessage>
}

/**
 * Builds a registry. `resolve` and `decode` throw `MessageContractNotRegisteredError` for what is not known and
 * `PayloadError` for a body that cannot be read, a missing upcaster or a schema that refuses.
 *
 * @throws OptionsError when two contracts have the same name and version.
 */
export function createContractRegistry(contracts: readonly MessageContract<unknown>[]): ContractRegistry {
  if (!Array.isArray(contracts)) {
    throw new OptionsError('contracts', [`expected a list of contracts, found ${typeof contracts}`])
  }
  const versionsByName = new Map<string, MessageContract<unknown>[]>()
  const faults = contracts.flatMap((contract: unknown, index) =>
    contractFaults(contract).map((fault) => `${fault} (contract at place ${String(index)})`),
  )
  if (faults.length > 0) throw new OptionsError('contracts', faults)
  for (const contract of contracts as readonly MessageContract<unknown>[]) {
    const versions = versionsByName.get(contract.name) ?? []
    if (versions.some((known) => known.version === contract.version)) {
      faults.push(
        `expected one contract a name and version, found two of ${contract.name} version ${String(contract.version)}`,
      )
    }
    versions.push(contract)
    versions.sort((a, b) => a.version - b.version)
    versionsByName.set(contract.name, versions)
  }
  if (faults.length > 0) throw new OptionsError('contracts', faults)

  const resolve = (name: string, version: number): MessageContract<unknown> => {
    const versions = versionsByName.get(name) ?? []
    const contract = versions.find((candidate) => candidate.version >= version)
    if (contract !== undefined) return contract
    const known = versions.map((candidate) => String(candidate.version)).join(', ')
    if (known === '') {
      throw new MessageContractNotRegisteredError(
        `expected a registered contract, found ${printable(name)} version ${String(version)}; register it before use`,
        { deliveryFault: { part: 'contract', expected: 'a registered contract', found: name.length } },
      )
    }
    throw new MessageContractNotRegisteredError(
      `expected contract ${printable(name)} in version ${known} or older, found version ${String(version)}; register the newer version`,
      { deliveryFault: { part: 'version', expected: `version ${known} or older` } },
    )
  }
  const decodeNow: ContractRegistry['decodeNow'] = (name, version, body) => {
    const contract = resolve(name, version)
    const message = lift(contract, version, parse(contract, body))
    if (contract.schema === undefined) return { contract, message }
    return validate(contract, message).then((valid) => ({ contract, message: valid }))
  }
  return {
    resolve,
    decodeNow,
    decode: async (name, version, body) => decodeNow(name, version, body),
  }
}

/**
 * Validates a message and turns it into bytes, before any write.
 *
 * @throws PayloadError when the schema refuses it or it cannot be serialized.
 */
export async function encodeMessage<T>(contract: MessageContract<T>, message: T): Promise<Uint8Array> {
  await validate(contract, message)
  try {
    return (contract.serializer ?? jsonSerializer).serialize(message)
  } catch (cause) {
    throw new PayloadError(`expected a message of ${label(contract)} that can be serialized`, { cause })
  }
}

/**
 * Validates a message without serializing it, for writes that bring the received bytes.
 *
 * @throws PayloadError when the schema refuses it.
 */
export async function validate<T>(contract: MessageContract<T>, message: unknown): Promise<unknown> {
  if (contract.schema === undefined) return message
  let result: StandardSchemaV1.Result<T>
  try {
    result = await contract.schema['~standard'].validate(message)
  } catch (cause) {
    throw new PayloadError(`the schema of ${label(contract)} failed while validating`, {
      cause,
      deliveryFault: { part: 'schema' },
    })
  }
  if (!isResult(result)) {
    throw new PayloadError(
      `expected the schema of ${label(contract)} to answer a value or issues, found another answer; correct the schema`,
    )
  }
  if (result.issues === undefined) return result.value
  throw new PayloadError(
    `expected a message that the schema of ${label(contract)} accepts, found ${String(result.issues.length)} issue(s) at ${result.issues.slice(0, 5).map(issuePath).join(', ')}`,
    { deliveryFault: { part: 'schema' } },
  )
}

/** Schemas may be code without types: what is no answer must not pass for one. */
function isResult(result: unknown): boolean {
  return typeof result === 'object' && result !== null && ('issues' in result || 'value' in result)
}

function parse(contract: MessageContract<unknown>, body: Uint8Array | string): unknown {
  const serializer = contract.serializer ?? jsonSerializer
  try {
    if (typeof body !== 'string') return serializer.deserialize(body)
    return serializer.deserializeText === undefined
      ? serializer.deserialize(encoder.encode(body))
      : serializer.deserializeText(body)
  } catch (cause) {
    throw new PayloadError(`expected a body of ${label(contract)} that can be parsed`, {
      cause,
      deliveryFault: { part: 'body', expected: 'a body that can be parsed', found: body.length },
    })
  }
}

function lift(contract: MessageContract<unknown>, version: number, payload: unknown): unknown {
  let lifted = payload
  for (let from = version; from < contract.version; from++) {
    const upcaster = contract.upcast?.[from]
    if (upcaster === undefined) {
      throw new PayloadError(
        `expected an upcaster of contract ${contract.name} from version ${String(from)} to ${String(from + 1)}, found none; add it to the contract`,
        { deliveryFault: { part: 'version', expected: 'an upcaster from that version' } },
      )
    }
    try {
      lifted = upcaster(lifted)
    } catch (cause) {
      throw new PayloadError(
        `the upcaster of contract ${contract.name} from version ${String(from)} failed`,
        { cause, deliveryFault: { part: 'version' } },
      )
    }
  }
  return lifted
}

function issuePath(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? [])
    .slice(0, 8)
    .map((part) => pathPart(typeof part === 'object' ? part.key : part))
  return path.length === 0 ? 'the root' : path.join('.')
}

/** Keys of a map can be data of the payload (an address, a token), so only what looks like a field name is shown. */
function pathPart(key: PropertyKey): string {
  const text = String(key)
  return /^(?:[A-Za-z_$][\w$]{0,39}|\d{1,9})$/.test(text) ? text : '*'
}

function label(contract: { readonly name: string; readonly version: number }): string {
  return `contract ${contract.name} version ${String(contract.version)}`
}

function printable(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}
