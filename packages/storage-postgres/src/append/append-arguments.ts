import { InboxStorageError, type NewMessage } from '@litebus/core'
import { plainArray, textArray } from '../database/array-literal.ts'
import { laneIdOf } from '../database/lane-id.ts'
import { encodeMetadata, encodeTrace } from '../database/metadata.ts'

/** Identities that are locked one by one; more than this would crowd the lock table of the server. */
export const lockLimit = 1000

/** Bodies travel as one value, which the protocol bounds. */
const batchBytes = 512 * 1024 * 1024

/** A call of one of the functions that append. */
export interface AppendCall {
  readonly name: string
  readonly values: readonly unknown[]
}

/** A call for a batch: columns as arrays, the bodies end to end in one value, which the driver sends as bytes. */
export function appendCall(messages: readonly NewMessage[], inCommitOrder: boolean): AppendCall {
  const locks = messages.reduce((sum, message) => sum + locksOf(message), 0)
  const waits = locks > lockLimit
  const lengths = messages.map((message) => message.body.byteLength)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (total > batchBytes) {
    throw new InboxStorageError(
      `the store refuses a batch of ${String(total)} bytes, expected at most ${String(batchBytes)}: split it`,
    )
  }
  let offset = 1
  const offsets = lengths.map((length) => (offset += length) - length)
  return {
    name: waits ? 'append_waiting' : 'append',
    values: [
      plainArray(messages.map((message) => message.id)),
      plainArray(messages.map((message) => message.contractVersion)),
      sparse(messages, ({ tenantId = '' }) => (tenantId === '' ? null : tenantId)),
      textArray(messages.map((message) => message.contractName)),
      sparse(messages, (message) => message.orderingKey ?? null),
      sparse(messages, (message) => message.idempotency?.key ?? null),
      sparse(messages, encodeMetadata),
      sparse(messages, encodeTrace),
      sparse(messages, laneOf),
      sparse(messages, (message) => atMicros(message)?.toString() ?? null),
      sparse(messages, (message) => afterMs(message)?.toString() ?? null),
      plainArray(offsets),
      plainArray(lengths),
      Buffer.concat(messages.map((message) => message.body)),
      locks > 0 && !waits,
      inCommitOrder,
    ],
  }
}

/** How one message is written. */
export interface AppendOneHow {
  /** Whether producers of its ordering key take turns. */
  readonly inCommitOrder: boolean
  /** Whether an id that is said to be new is not looked for: if it were taken, the transaction would fail. */
  readonly trustsNewIds: boolean
}

/** A call for one message: a shorter function when it has no key, is due at once and needs no lock. */
export function appendOneCall(
  message: NewMessage,
  { inCommitOrder, trustsNewIds }: AppendOneHow,
): AppendCall {
  const { id, contractVersion, contractName, body, tenantId = '', orderingKey = null, idempotency } = message
  const common = [
    id,
    contractVersion,
    contractName,
    body,
    tenantId,
    encodeMetadata(message),
    encodeTrace(message),
  ]
  const locks = locksOf(message) > 0
  if (!locks && orderingKey === null && message.visibility === undefined) {
    const isNew = trustsNewIds && message.idIsNew === true
    return { name: isNew ? 'append_one_new' : 'append_one', values: common }
  }
  const lane = laneOf(message)
  const key = idempotency?.key ?? null
  const turn = inCommitOrder && lane !== null
  const rest = [orderingKey, lane, key, atMicros(message), afterMs(message), locks, turn]
  return { name: 'append_one_full', values: [...common, ...rest] }
}

/** How many locks a message takes: one for an id that may repeat, one for a key. */
export function locksOf({ id, idempotency }: NewMessage): number {
  return (hasRandomId(id) ? 0 : 1) + (idempotency === undefined ? 0 : 1)
}

/** A UUIDv7 does not repeat; derived and given ids do by design. */
function hasRandomId(id: string): boolean {
  return id[14] === '7'
}

/** A column without any value is no array: `unnest` fills it up with nulls. */
function sparse(
  messages: readonly NewMessage[],
  valueOf: (message: NewMessage) => string | null,
): string | null {
  return messages.some((message) => valueOf(message) !== null) ? textArray(messages.map(valueOf)) : null
}

function laneOf({ tenantId, orderingKey }: NewMessage): string | null {
  return orderingKey === undefined ? null : laneIdOf(tenantId, orderingKey)
}

function atMicros({ visibility }: NewMessage): number | null {
  return visibility !== undefined && 'at' in visibility ? visibility.at.getTime() * 1000 : null
}

function afterMs({ visibility }: NewMessage): number | null {
  return visibility !== undefined && 'afterMs' in visibility ? visibility.afterMs : null
}
