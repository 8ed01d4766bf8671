/** The two directions of durable messages. */
export type Axis = 'inbox' | 'outbox'

/**
 * Where a message stands, in words common to both axes. Public names per axis:
 *
 * | state | inbox | outbox |
 * | --- | --- | --- |
 * | `awaiting` | Pending | Pending |
 * | `leased` | Processing | Publishing |
 * | `succeeded` | Completed | Published |
 * | `retryScheduled` | Failed | Failed |
 * | `parked` | DeadLettered | DeadLettered |
 */
export type MessageState = 'awaiting' | 'leased' | 'succeeded' | 'retryScheduled' | 'parked'

/** The public status names of an axis. */
export type MessageStatus =
  'Pending' | 'Processing' | 'Publishing' | 'Completed' | 'Published' | 'Failed' | 'DeadLettered'

const inboxStatus: Readonly<Record<MessageState, MessageStatus>> = {
  awaiting: 'Pending',
  leased: 'Processing',
  succeeded: 'Completed',
  retryScheduled: 'Failed',
  parked: 'DeadLettered',
}

/** Translates a state to the name it has on an axis. */
export function statusOf(axis: Axis, state: MessageState): MessageStatus {
  if (axis === 'outbox') {
    if (state === 'leased') return 'Publishing'
    if (state === 'succeeded') return 'Published'
  }
  return inboxStatus[state]
}
