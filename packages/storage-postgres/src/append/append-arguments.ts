import { InboxStorageError, type NewMessage } from '@litebus/core'
import { laneIdOf } from '../database/lane-id.ts'
import { encodeMetadata, encodeTrace } from '../database/metadata.ts'

/** Identities that are locked one by one; more than this would crowd the lock table of the server. */
const lockLimit = 1000

/** Bodies travel as one value, which the protocol bounds. */
const batchBytes = 512 * 1024 * 1024

/** The arguments of the append function. */
export interface AppendArguments {
  readonly values: readonly unknown[]
  /** Whether the identities are too many to be locked one by one. */
  readonly waits: boolean
}

/** Builds the arguments: columns as arrays, the bodies end to end in one value, which the driver sends as bytes. */
export function appendArguments(messages: readonly NewMessage[], inCommitOrder: boolean): AppendArguments {
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
    waits,
    values: [
      plainArray(messages.map((message) => message.id)),
      plainArray(messages.map((message) => message.contractVersion)),
      sparse(messages.map(({ tenantId = '' }) => (tenantId === '' ? null : tenantId))),
      messages.map((message) => message.contractName),
      sparse(messages.map((message) => message.orderingKey ?? null)),
      sparse(messages.map((message) => message.idempotency?.key ?? null)),
      sparse(messages.map(encodeMetadata)),
      sparse(messages.map(encodeTrace)),
      sparse(messages.map(laneOf)),
      sparse(messages.map(atMicros)),
      sparse(messages.map(afterMs)),
      plainArray(offsets),
      plainArray(lengths),
      Buffer.concat(messages.map((message) => message.body)),
      locks > 0 && !waits,
      inCommitOrder,
    ],
  }
}

/** Builds the arguments for one message: trailing ones that are absent are left out. */
export function appendOneArguments(message: NewMessage, inCommitOrder: boolean): readonly unknown[] {
  const { id, contractVersion, contractName, body, tenantId = '', orderingKey = null, idempotency } = message
  const lane = laneOf(message)
  const values: unknown[] = [
    id,
    contractVersion,
    contractName,
    body,
    tenantId,
    encodeMetadata(message),
    encodeTrace(message),
    orderingKey,
    lane,
    idempotency?.key ?? null,
    atMicros(message),
    afterMs(message),
    locksOf(message) > 0,
    inCommitOrder && lane !== null,
  ]
  while (values.at(-1) === null || values.at(-1) === false) values.pop()
  return values
}

/** How many locks a message takes: one for an id that may repeat, one for a key. */
export function locksOf({ id, idempotency }: NewMessage): number {
  return (hasRandomId(id) ? 0 : 1) + (idempotency === undefined ? 0 : 1)
}

/** A UUIDv7 does not repeat; derived and given ids do by design. */
function hasRandomId(id: string): boolean {
  return id[14] === '7'
}

/** Numbers and ids need no quotes, which the driver would look for one by one. */
function plainArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}

/** A column without any value is no array: `unnest` fills it up with nulls. */
function sparse<T>(values: readonly (T | null)[]): readonly (T | null)[] | null {
  return values.every((value) => value === null) ? null : values
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
