import { LiteBusError, type LiteBusErrorOptions } from './litebus-error.ts'

/** One slot of a batch that could not be written. */
export interface ConflictingSlot {
  /** 0-based index in the batch; 0 for a single message. */
  readonly index: number
  /** Message id of the slot. */
  readonly id: string
  /** Which rule the slot hit: the idempotency key, the id, or both. */
  readonly on: 'key' | 'id'
}

/**
 * A key or an id is taken: by any message under `strict`, or by another message (other body, or key and id of
 * different rows) under `returnExisting`. Nothing of the batch was written; the caller's transaction is usable.
 */
export class IdempotencyConflictError extends LiteBusError {
  /** The slots that conflict. */
  readonly slots: readonly ConflictingSlot[]

  /** Builds the error with code `IDEMPOTENCY_CONFLICT`. */
  constructor(message: string, slots: readonly ConflictingSlot[], options?: LiteBusErrorOptions) {
    super('IDEMPOTENCY_CONFLICT', message, options)
    this.slots = slots
  }
}

/**
 * Another transaction is writing the same key right now and its outcome is open. Nothing of the batch was
 * written; the caller's transaction is usable; retry after the other one ends.
 */
export class DuplicateInFlightError extends LiteBusError {
  /** The slots whose keys are being written elsewhere. */
  readonly slots: readonly ConflictingSlot[]

  /** Builds the error with code `DUPLICATE_IN_FLIGHT`. */
  constructor(message: string, slots: readonly ConflictingSlot[], options?: LiteBusErrorOptions) {
    super('DUPLICATE_IN_FLIGHT', message, options)
    this.slots = slots
  }
}
