import type { StandardSchemaV1 } from '@standard-schema/spec'

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
