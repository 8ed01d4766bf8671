import type { NewMessage } from '../messages/new-message.ts'
import type { StoredReceipt } from '../ports/message-store.ts'

/** A stored message that an id or a key of a new one points at. */
export interface KnownMessage {
  /** What the store remembers of it. */
  readonly receipt: StoredReceipt
  /** Its idempotency key. */
  readonly idempotencyKey?: string
  /** Whether its body is the body of the new message; only asked where the ids are equal. */
  readonly sameBody: boolean
}

/** What becomes of one slot of an append. */
export type SlotDecision =
  | { readonly kind: 'insert' }
  | { readonly kind: 'existing'; readonly receipt: StoredReceipt }
  | { readonly kind: 'conflict'; readonly on: 'key' | 'id' }

/**
 * Decides one slot from what its id and its key point at. The same logical write is `existing`; everything that
 * would map one message onto another is a conflict: an id and a key of different rows, the id of another body,
 * tenant or key, and under `strict` anything that is taken.
 */
export function decideSlot(
  message: NewMessage,
  byId: KnownMessage | undefined,
  byKey: KnownMessage | undefined,
): SlotDecision {
  if (byId === undefined && byKey === undefined) return { kind: 'insert' }
  if (message.idempotency?.mode === 'strict') {
    return { kind: 'conflict', on: byKey === undefined ? 'id' : 'key' }
  }
  if (byId === undefined) {
    return byKey === undefined ? { kind: 'insert' } : { kind: 'existing', receipt: byKey.receipt }
  }
  if (!byId.sameBody || (byId.receipt.tenantId ?? '') !== (message.tenantId ?? '')) {
    return { kind: 'conflict', on: 'id' }
  }
  if (message.idempotency !== undefined && byId.idempotencyKey !== message.idempotency.key) {
    return { kind: 'conflict', on: 'key' }
  }
  return { kind: 'existing', receipt: byId.receipt }
}
