import type { FailureCategory } from '../policies/failure.ts'
import type { StoredMessage } from '../messages/new-message.ts'

/** The right to work on one message until it expires. Owner and generation fence every later call. */
export interface Lease {
  /** Message id. */
  readonly id: string
  /** Position of the row in its store, decimal; orders locks. */
  readonly sequence: string
  /** Configured label plus random suffix of the processor that holds it. */
  readonly owner: string
  /** Grows with every lease of a message and is never used twice for it, whatever becomes of the row. Decimal, 64 bits. */
  readonly generation: string
}

/** One failed attempt, without text. */
export interface FailureRecord {
  /** 1-based attempt that failed. */
  readonly attempt: number
  /** Kind of failure. */
  readonly category: FailureCategory
  /** Short stable code. */
  readonly code: string
  /** When, by the clock of the store. */
  readonly at: Date
}

/** A message with the lease under which it may be worked on. */
export interface LeasedEnvelope {
  /** The lease to renew, settle or release. */
  readonly lease: Lease
  /** The message. */
  readonly message: StoredMessage
  /** 1-based number of this attempt, counted when leased. */
  readonly attempt: number
  /** When the message failed for the first time. */
  readonly firstFailureAt?: Date
  /** True when an earlier lease of the message expired: it may have ended its process. */
  readonly suspect: boolean
}

/** What a processor asks of a store. */
export interface LeaseRequest {
  /** Owner to write into the leases. */
  readonly owner: string
  /** Most messages to lease, 1 to 10 000. */
  readonly limit: number
  /** Duration of the lease in milliseconds, by the clock of the store. */
  readonly leaseMs: number
  /** A row whose lease expired with this many attempts used is parked instead of leased. */
  readonly maxAttempts: number
  /** Most rows of one ordering key in one lease. @defaultValue 100 */
  readonly maxPerKey?: number
  /**
   * What a parked message does to its key: nothing of the key is leased until the letter is purged or requeued
   * (`block`), waiting and new rows are parked with code `KEY_PARKED` until then (`park`), or later ones go on
   * (`skip`). @defaultValue 'block'
   */
  readonly onKeyDeadLetter?: 'block' | 'park' | 'skip'
  /** Only messages of these tenants; the empty string is the unscoped partition. @defaultValue all */
  readonly tenants?: readonly string[]
  /** Only messages of these contract names. @defaultValue all */
  readonly contracts?: readonly string[]
  /** Ends the call early. */
  readonly signal?: AbortSignal
}

/** What one lease call brought. */
export interface LeaseBatch {
  /** Leased messages; rows of one ordering key are in order. */
  readonly envelopes: readonly LeasedEnvelope[]
  /** Messages parked by this call because their attempts were used up by expired leases, or their key is parked. */
  readonly parked: number
  /** True when due rows were left because of the limit: ask again at once. */
  readonly more: boolean
  /** Milliseconds until the next scheduled row is due, when the store knows it. */
  readonly nextDueInMs?: number
}

/** What became of one renewal: `skipped` means that the row was locked just now and the lease still stands. */
export type RenewResult = 'renewed' | 'lost' | 'skipped'

/** What one settle writes. */
export type SettleOutcome =
  | { readonly kind: 'succeeded'; readonly lease: Lease }
  | {
      readonly kind: 'retry'
      readonly lease: Lease
      /** Delay before the next attempt, by the clock of the store. */
      readonly delayMs: number
      /** Why this attempt failed. */
      readonly category: FailureCategory
      /** Short stable code of the failure. */
      readonly code: string
    }
  | {
      readonly kind: 'deadLettered'
      readonly lease: Lease
      /** Why the message is parked. */
      readonly category: FailureCategory
      /** Short stable code of the failure. */
      readonly code: string
    }

/** Whether a settle took effect: `leaseLost` means that owner or generation no longer match; nothing was written. */
export type SettleResult = 'applied' | 'leaseLost'
