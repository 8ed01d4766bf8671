import type { MessageState } from '../messages/message-state.ts'
import type { StoredMessage } from '../messages/new-message.ts'
import type { FailureRecord } from './lease.ts'

/** Which messages an operator means. Every given field narrows; times are by creation. */
export interface MessageFilter {
  /** Exactly these ids. */
  readonly ids?: readonly string[]
  /** Any of these states. */
  readonly states?: readonly MessageState[]
  /** Any of these contract names. */
  readonly contracts?: readonly string[]
  /** Any of these tenants; the empty string is the unscoped partition. */
  readonly tenants?: readonly string[]
  /** This ordering key. */
  readonly orderingKey?: string
  /** This code of the last failure (parked messages). */
  readonly failureCode?: string
  /** Created at or after. */
  readonly createdFrom?: Date
  /** Created before. */
  readonly createdBefore?: Date
}

/** One page request: keyset pagination, newest last. */
export interface MessageQuery extends MessageFilter {
  /** Rows a page, 1 to 1000. @defaultValue 100 */
  readonly limit?: number
  /** Cursor of the page before; absent for the first. */
  readonly after?: string
}

/** A message with where it stands. */
export interface MessageRecord {
  /** The message; when retention took its payload, the body is empty and everything optional may be absent. */
  readonly message: StoredMessage
  /** Whether retention took the payload. */
  readonly payload: 'stored' | 'deleted'
  /** Where it stands. */
  readonly state: MessageState
  /** Attempts made so far since the last requeue. */
  readonly attempts: number
  /** When it becomes due, for waiting ones. */
  readonly dueAt?: Date
  /** When it succeeded or was parked. */
  readonly endedAt?: Date
  /** When it failed first. */
  readonly firstFailureAt?: Date
  /** Failed attempts, oldest first, at most the last 20. */
  readonly failures: readonly FailureRecord[]
}

/** One page of messages. */
export interface MessagePage {
  /** Messages in the order of their sequence. */
  readonly records: readonly MessageRecord[]
  /** Cursor for the next page; absent on the last one. */
  readonly next?: string
}

/** What a requeue did. */
export interface RequeueResult {
  /** Parked messages that the filter named, within the limit. */
  readonly requested: number
  /** Messages that are pending again. */
  readonly requeued: number
}

/** Counts of the narrow tables, and the age of what waits. */
export interface StatusCounts {
  /** Due now or in the future for the first time, and not leased. */
  readonly awaiting: number
  /** Leased and not expired, or expired and waiting for recovery. */
  readonly leased: number
  /** Waiting for another attempt. */
  readonly retryScheduled: number
  /** Dead letters. */
  readonly parked: number
  /** Age of the oldest due message in milliseconds; absent when none is due. */
  readonly oldestDueAgeMs?: number
  /** Ordering keys that are blocked by a dead letter. */
  readonly keysBlocked: number
}

/** What one retention run may delete. */
export interface RetentionRequest {
  /** Succeeded messages older than this lose their payload, in milliseconds. @defaultValue 7 days */
  readonly retentionMs?: number
  /** Their identity and key are forgotten after this, in milliseconds. @defaultValue 30 days */
  readonly dedupRetentionMs?: number
  /** Most messages a run. @defaultValue 10 000 */
  readonly limit?: number
}

/** What a retention run deleted. */
export interface RetentionResult {
  /** Payloads deleted. */
  readonly payloads: number
  /** Identities and keys forgotten. */
  readonly identities: number
}

/** Version and state of the schema of a store. */
export interface SchemaInfo {
  /** Version that is installed; 0 when none is. */
  readonly installed: number
  /** Version that this package works with. */
  readonly expected: number
}
