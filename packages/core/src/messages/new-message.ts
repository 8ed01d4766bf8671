import type { TraceContext } from './trace-context.ts'

/** When a message becomes due: at once, at a time, or after a delay counted by the clock of the store. */
export type Visibility = { readonly at: Date } | { readonly afterMs: number }

/** How a taken idempotency key is met: the stored receipt is returned, or the write fails. */
export type IdempotencyMode = 'returnExisting' | 'strict'

/** Idempotency of one write. Keys are scoped to axis and tenant; a blank tenant is the unscoped partition. */
export interface Idempotency {
  /** 1 to 512 characters. */
  readonly key: string
  /** What happens when the key is taken. @defaultValue 'returnExisting' */
  readonly mode?: IdempotencyMode
}

/** What travels with a payload, written once and never changed. */
export interface MessageMetadata {
  /** Tenant; absent means the unscoped partition. */
  readonly tenantId?: string
  /** Messages of one key (within a tenant) are handled one at a time, in the order in which they were written. */
  readonly orderingKey?: string
  /** Where an outbox message goes when no resolver says otherwise. */
  readonly topic?: string
  /** Id that all messages of one business conversation share. */
  readonly correlationId?: string
  /** Id of the message that caused this one. */
  readonly causationId?: string
  /** W3C trace context. */
  readonly trace?: TraceContext
  /** Application headers; names of the `litebus-` and `msg.` families are reserved. */
  readonly headers?: Readonly<Record<string, string>>
  /** At ingress: the id under which the source delivered it. */
  readonly sourceId?: string
}

/** A message as a store takes it: everything is validated and serialized before. */
export interface NewMessage extends MessageMetadata {
  /** UUID in lower case. */
  readonly id: string
  /**
   * The id was made for this one write, so that no other message has it and a store need not look for one.
   *
   * @defaultValue false
   */
  readonly idIsNew?: boolean
  /** Stable contract name. */
  readonly contractName: string
  /** Positive contract version. */
  readonly contractVersion: number
  /** Payload bytes; stored and given back unchanged. */
  readonly body: Uint8Array
  /** Idempotency of this write; absent: only the id deduplicates. */
  readonly idempotency?: Idempotency
  /** When the message becomes due. @defaultValue at once */
  readonly visibility?: Visibility
}

/** A message as a store gives it back. */
export interface StoredMessage extends MessageMetadata {
  /** UUID in lower case. */
  readonly id: string
  /** Stable contract name. */
  readonly contractName: string
  /** Positive contract version. */
  readonly contractVersion: number
  /** The payload bytes that were written. */
  readonly body: Uint8Array
  /** The same as text, from a store that has read it as UTF-8 anyway: whoever parses it need not decode it again. */
  readonly text?: string
  /** Time of the write, by the clock of the store. */
  readonly createdAt: Date
  /** Idempotency key of the write. */
  readonly idempotencyKey?: string
}
