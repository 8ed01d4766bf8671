import { createHash } from 'node:crypto'
import { InboxStorageError, type NewMessage } from '@litebus/core'
import { laneIdOf } from '../database/lane-id.ts'
import { encodeMetadata, encodeTrace } from '../database/metadata.ts'

/** Keys that are locked one by one; more than this would crowd the lock table of the server. */
const keyLockLimit = 1000

/** Bodies travel as one value, which the protocol bounds. */
const batchBytes = 512 * 1024 * 1024

/** The arguments of the append function, and what they lock. */
export interface AppendArguments {
  readonly values: readonly unknown[]
  /** Lock → slots that need it. */
  readonly locks: ReadonlyMap<string, readonly number[]>
  /** Whether the keys are too many to be locked one by one. */
  readonly waits: boolean
}

/** Builds the arguments: columns as arrays, the bodies end to end in one value, which the driver sends as bytes. */
export function appendArguments(
  scope: string,
  messages: readonly NewMessage[],
  inCommitOrder: boolean,
): AppendArguments {
  const locks = locksOf(scope, messages)
  const waits = locks.size > keyLockLimit
  const lengths = messages.map((message) => message.body.byteLength)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (total > batchBytes) {
    throw new InboxStorageError(
      `the store refuses a batch of ${String(total)} bytes, expected at most ${String(batchBytes)}: split it`,
    )
  }
  let offset = 1
  const offsets = lengths.map((length) => (offset += length) - length)
  const lanes = messages.map(laneOf)
  const turns = inCommitOrder
    ? [...new Set(lanes.filter((lane) => lane !== null))].map((lane) => turnOf(scope, lane))
    : []
  return {
    locks,
    waits,
    values: [
      messages.map((message) => message.id),
      messages.map((message) => message.contractVersion),
      messages.map((message) => message.tenantId ?? ''),
      messages.map((message) => message.contractName),
      messages.map((message) => message.orderingKey ?? null),
      messages.map((message) => message.idempotency?.key ?? null),
      messages.map(encodeMetadata),
      messages.map(encodeTrace),
      lanes,
      messages.map(atMicros),
      messages.map(afterMs),
      offsets,
      lengths,
      Buffer.concat(messages.map((message) => message.body)),
      waits || locks.size === 0 ? null : [...locks.keys()].sort(byNumber),
      turns.length === 0 ? null : turns.sort(byNumber),
    ],
  }
}

/** Builds the arguments for one message: trailing ones that are absent are left out. */
export function appendOneArguments(
  scope: string,
  message: NewMessage,
  inCommitOrder: boolean,
): Omit<AppendArguments, 'waits'> {
  const { id, contractVersion, contractName, body, tenantId = '', orderingKey = null, idempotency } = message
  const locks = locksOf(scope, [message])
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
    locks.size === 0 ? null : [...locks.keys()].sort(byNumber),
    inCommitOrder && lane !== null ? turnOf(scope, lane) : null,
  ]
  while (values.at(-1) === null) values.pop()
  return { locks, values }
}

function laneOf({ tenantId, orderingKey }: NewMessage): string | null {
  return orderingKey === undefined ? null : laneIdOf(tenantId, orderingKey)
}

function turnOf(scope: string, lane: string): string {
  return hash64(`${scope}\0turn\0${lane}`)
}

function atMicros({ visibility }: NewMessage): number | null {
  return visibility !== undefined && 'at' in visibility ? visibility.at.getTime() * 1000 : null
}

function afterMs({ visibility }: NewMessage): number | null {
  return visibility !== undefined && 'afterMs' in visibility ? visibility.afterMs : null
}

/**
 * Locks keep two open transactions from writing one identity: the second would wait for the first inside the
 * caller's transaction. Random ids need none: a UUIDv7 does not repeat, derived and given ones do by design.
 */
function locksOf(scope: string, messages: readonly NewMessage[]): Map<string, number[]> {
  const locks = new Map<string, number[]>()
  const add = (name: string, slot: number): void => {
    const key = hash64(`${scope}\0${name}`)
    const slots = locks.get(key)
    if (slots === undefined) locks.set(key, [slot])
    else slots.push(slot)
  }
  messages.forEach(({ id, tenantId, idempotency }, slot) => {
    if (id[14] !== '7') add(`id\0${id}`, slot)
    if (idempotency !== undefined) add(`key\0${tenantId ?? ''}\0${idempotency.key}`, slot)
  })
  return locks
}

function hash64(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest().readBigInt64BE(0).toString()
}

function byNumber(a: string, b: string): number {
  const difference = BigInt(a) - BigInt(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
