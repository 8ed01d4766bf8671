import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ArgumentError } from '../errors/errors.ts'

/** Lifts a payload of the version it is registered under to the next version. */
export type Upcaster = (payload: unknown) => unknown

/** Turns messages into bytes and back. @defaultValue JSON in UTF-8 */
export interface PayloadSerializer {
  /** MIME type on the wire. */
  readonly contentType: string
  /** Bytes of a message. */
  serialize(message: unknown): Uint8Array
  /** Message of bytes; throws when they cannot be read. */
  deserialize(body: Uint8Array): unknown
  /** The same for bytes that were read as UTF-8 already; absent: they are made bytes again. */
  deserializeText?(text: string): unknown
}

/** A kind of message under a stable name and a positive version. */
export interface MessageContract<T> {
  /** Stable name, 1 to 200 printable ASCII characters without spaces. */
  readonly name: string
  /** Positive integer. */
  readonly version: number
  /** Standard Schema of the message: checked before a write and before a handler. */
  readonly schema?: StandardSchemaV1<unknown, T>
  /** Upcasters by the version that they lift from. */
  readonly upcast?: Readonly<Record<number, Upcaster>>
  /** Serializer of this contract. @defaultValue JSON in UTF-8 */
  readonly serializer?: PayloadSerializer
}

const namePattern = /^[\x21-\x7e]{1,200}$/

/**
 * Declares a contract; the type of the message comes from the schema or from the type argument.
 *
 * @throws ArgumentError when name, version or upcasters are not valid.
 */
export function defineContract<T>(contract: MessageContract<T>): MessageContract<T> {
  if (typeof (contract as unknown) !== 'object' || (contract as unknown) === null) {
    throw new ArgumentError(`expected a contract with name and version, found ${describe(contract)}`)
  }
  if (typeof contract.name !== 'string' || !namePattern.test(contract.name)) {
    throw new ArgumentError(
      `expected a contract name of 1 to 200 printable ASCII characters without spaces, found ${describe(contract.name)}`,
    )
  }
  if (!Number.isSafeInteger(contract.version) || contract.version < 1 || contract.version > 2 ** 31 - 1) {
    throw new ArgumentError(
      `expected a positive integer as version of contract ${contract.name}, found ${describe(contract.version)}`,
    )
  }
  for (const from of Object.keys(contract.upcast ?? {})) {
    const version = Number(from)
    if (!Number.isSafeInteger(version) || version < 1 || version >= contract.version) {
      throw new ArgumentError(
        `expected upcasters of contract ${contract.name} from versions 1 to ${String(contract.version - 1)}, found one from ${from}`,
      )
    }
  }
  return Object.freeze({ ...contract })
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value)
}
