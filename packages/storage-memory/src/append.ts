import { createHash } from 'node:crypto'
import {
  assertStorable,
  decideSlot,
  DuplicateInFlightError,
  IdempotencyConflictError,
  InboxStorageError,
  type AppendResult,
  type ConflictingSlot,
  type KnownMessage,
  type Mutable,
  type NewMessage,
  type StoredMessage,
  type StoredReceipt,
} from '@litebus/core'
import { idempotencyScopeOf, type AxisState } from './axis-state.ts'
import { laneIdOf } from './lane.ts'
import type { Row } from './row.ts'
import type { OpenTransaction, Transactions } from './transaction.ts'

/** What an append works with. */
export interface AppendContext {
  readonly state: AxisState
  readonly transactions: Transactions
  readonly transaction: OpenTransaction
  readonly now: number
  readonly maxPendingRows: number
}

/** Waits until the producers of the same ordering keys that came first have ended. */
export async function takeTurns(context: AppendContext, messages: readonly NewMessage[]): Promise<void> {
  const lanes = new Set(messages.map(laneIdOf).filter((id) => id !== undefined))
  for (const lane of [...lanes].sort()) {
    await context.transactions.takeTurn(`${context.state.axis}\0${lane}`, context.transaction)
  }
}

/** Writes all messages into the transaction, or none and throws. */
export function append(context: AppendContext, messages: readonly NewMessage[]): readonly AppendResult[] {
  assertStorable(messages)
  const { state, transaction } = context
  const own = transaction.pending.filter((entry) => entry.state === state).map((entry) => entry.row)
  if (state.queued + own.length + messages.length > context.maxPendingRows) {
    throw new InboxStorageError(
      `the store refuses ${String(messages.length)} messages: its limit of ${String(context.maxPendingRows)} pending rows is reached`,
    )
  }
  refuseInFlight(context, messages)
  const conflicts: ConflictingSlot[] = []
  const written: Row[] = []
  const results = messages.map((message, index): AppendResult | undefined => {
    const known = (match: (row: Row) => boolean, stored: Row | undefined): KnownMessage | undefined => {
      const row = stored ?? own.find(match) ?? written.find(match)
      return row === undefined ? undefined : knownMessage(row, message)
    }
    const scope = scopeOf(message)
    const byId = known((row) => row.message.id === message.id, state.byId.get(message.id))
    const byKey =
      scope === undefined
        ? undefined
        : known((row) => idempotencyScopeOf(row.message) === scope, state.byKey.get(scope))
    const decision = decideSlot(message, byId, byKey)
    if (decision.kind === 'existing') return { status: 'existing', receipt: decision.receipt }
    if (decision.kind === 'conflict') {
      conflicts.push({ index, id: message.id, on: decision.on })
      return undefined
    }
    const row = newRow(context, message)
    written.push(row)
    return { status: 'inserted', receipt: receiptOf(row) }
  })
  if (conflicts.length > 0) {
    throw new IdempotencyConflictError(
      `${String(conflicts.length)} of ${String(messages.length)} messages have an id or a key that is taken; nothing was written`,
      conflicts,
    )
  }
  for (const row of written) {
    transaction.pending.push({ state, row })
    for (const name of reservationsOf(context, row.message.id, idempotencyScopeOf(row.message))) {
      context.transactions.reserve(name, transaction)
    }
  }
  return results.filter((result) => result !== undefined)
}

function refuseInFlight(context: AppendContext, messages: readonly NewMessage[]): void {
  const slots: ConflictingSlot[] = []
  messages.forEach((message, index) => {
    const names = reservationsOf(context, message.id, scopeOf(message))
    const taken = names.findIndex((name) => context.transactions.isReservedByOther(name, context.transaction))
    if (taken >= 0) slots.push({ index, id: message.id, on: taken === 0 ? 'id' : 'key' })
  })
  if (slots.length > 0) {
    throw new DuplicateInFlightError(
      `${String(slots.length)} of ${String(messages.length)} messages are being written by another transaction; nothing was written`,
      slots,
    )
  }
}

function reservationsOf({ state }: AppendContext, id: string, scope: string | undefined): string[] {
  const names = [`${state.axis}\0id\0${id}`]
  if (scope !== undefined) names.push(`${state.axis}\0key\0${scope}`)
  return names
}

function scopeOf(message: NewMessage): string | undefined {
  return message.idempotency === undefined
    ? undefined
    : `${message.tenantId ?? ''}\0${message.idempotency.key}`
}

function newRow({ state, now }: AppendContext, message: NewMessage): Row {
  const { idempotency, visibility, ...metadata } = message
  // How it is written is nothing of what is stored.
  const written: Mutable<NewMessage> = metadata
  delete written.idIsNew
  const stored: StoredMessage = {
    ...written,
    body: Uint8Array.from(message.body),
    createdAt: new Date(now),
    ...(idempotency === undefined ? {} : { idempotencyKey: idempotency.key }),
  }
  return {
    sequence: state.nextSequence(),
    createdAt: now,
    message: stored,
    payload: 'stored',
    bodyDigest: undefined,
    place: 'queue',
    dueAt:
      visibility === undefined
        ? now
        : 'at' in visibility
          ? visibility.at.getTime()
          : now + visibility.afterMs,
    attempts: 0,
    lease: undefined,
    suspect: false,
    firstFailureAt: undefined,
    failures: [],
    endedAt: undefined,
  }
}

function knownMessage(row: Row, message: NewMessage): KnownMessage {
  const { idempotencyKey } = row.message
  return {
    receipt: receiptOf(row),
    sameBody:
      row.bodyDigest === undefined
        ? sameBytes(row.message.body, message.body)
        : row.bodyDigest === digestOf(message.body),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

function receiptOf(row: Row): StoredReceipt {
  const { id, contractName, contractVersion, createdAt, tenantId, trace } = row.message
  return {
    id,
    contractName,
    contractVersion,
    createdAt,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(trace === undefined ? {} : { trace }),
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0
}

/** Digest of a body, kept when retention takes the body itself. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}
