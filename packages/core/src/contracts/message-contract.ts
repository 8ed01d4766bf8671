import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ArgumentError } from '../errors/errors.ts'
import { contractFaults } from './contract-faults.ts'

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

/**
 * Declares a contract; the type of the message comes from the schema or from the type argument.
 *
 * @throws ArgumentError naming every fault: a name or version that is not valid, an option that does not exist, a schema,
 * upcaster or serializer that is none.
 */
export function defineContract<T>(contract: MessageContract<T>): MessageContract<T> {
  const faults = contractFaults(contract)
  if (faults.length > 0) throw new ArgumentError(faults.join('; '))
  return Object.freeze({ ...contract })
}
