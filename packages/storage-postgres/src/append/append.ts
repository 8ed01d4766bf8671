import {
  assertStorable,
  decideSlot,
  DuplicateInFlightError,
  IdempotencyConflictError,
  type AppendResult,
  type ConflictingSlot,
  type Mutable,
  type NewMessage,
  type StoredReceipt,
} from '@litebus/core'
import type { Run } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { appendCall, appendOneCall, lockLimit, locksOf, type AppendCall } from './append-arguments.ts'
import { keyScopeOf, meet, readKnown, type KnownMessages } from './known-messages.ts'

/** What an append works with. */
export interface AppendContext {
  readonly axis: AxisNames
  readonly run: Run
  readonly inCommitOrder: boolean
  /** True in the transaction of a caller: nobody repeats a write in it that may have been made already. */
  readonly trustsNewIds: boolean
  /** Undoes what this append has written, without ending the transaction. */
  readonly undo: (ids: readonly string[]) => Promise<void>
}

/** How a batch is best written where it has a transaction of its own. */
export function planOf(messages: readonly NewMessage[]): 'oneStatement' | 'oneStatementIfNew' | 'steps' {
  if (messages.length <= 1) return 'oneStatement'
  const locks = messages.reduce((sum, message) => sum + locksOf(message), 0)
  return locks > lockLimit ? 'steps' : 'oneStatementIfNew'
}

/**
 * Writes messages by one statement if all of them are new, as they nearly always are; answers `undefined` where one of
 * them met another, in the database or among themselves, and then nothing was written.
 */
export async function appendNew(
  { axis, run, inCommitOrder }: Pick<AppendContext, 'axis' | 'run' | 'inCommitOrder'>,
  messages: readonly NewMessage[],
): Promise<readonly AppendResult[] | undefined> {
  assertStorable(messages)
  const { values } = appendCall(messages, inCommitOrder)
  const answer = await call(run, axis, { name: 'append_new', values })
  if (answer === '?') return undefined
  const slots = messages.map((_, slot) => slot)
  if (answer.startsWith('!')) throw inFlight(answer.slice(1), { slots, messages })
  const createdAt = new Date(Number(answer))
  return messages.map((message) => ({ status: 'inserted', receipt: receiptOf(message, createdAt) }))
}

/**
 * Writes all messages or none. The first statement writes what is new; only slots that were left out, because their
 * id or key is taken, are looked up, with a snapshot that sees whom they met.
 */
export async function append(
  context: AppendContext,
  messages: readonly NewMessage[],
): Promise<readonly AppendResult[]> {
  if (messages.length === 0) return []
  assertStorable(messages)
  const results = new Array<AppendResult | undefined>(messages.length).fill(undefined)
  let open = messages.map((_, slot) => slot)
  const written: string[] = []
  try {
    while (open.length > 0) {
      const first = firstOfEachIdentity(messages, open)
      const inserted = await insert(context, messages, first)
      for (const [slot, receipt] of inserted) {
        results[slot] = { status: 'inserted', receipt }
        written.push(receipt.id)
      }
      open = open.filter((slot) => results[slot] === undefined)
      if (open.length > 0) open = await resolveTaken({ context, messages, results }, open)
    }
  } catch (error) {
    if (written.length > 0 && isConflict(error)) await context.undo(written)
    throw error
  }
  return results.filter((result) => result !== undefined)
}

function isConflict(error: unknown): boolean {
  return error instanceof IdempotencyConflictError || error instanceof DuplicateInFlightError
}

/** Slots that share no id and no key with an earlier one: the others meet them, not the database. */
function firstOfEachIdentity(messages: readonly NewMessage[], slots: readonly number[]): readonly number[] {
  if (slots.length === 1) return slots
  const seen = new Set<string>()
  return slots.filter((slot) => {
    const identities = identitiesOf(messages[slot])
    const isFirst = !identities.some((identity) => seen.has(identity))
    for (const identity of identities) seen.add(identity)
    return isFirst
  })
}

function identitiesOf(message: NewMessage | undefined): readonly string[] {
  if (message === undefined) return []
  const { id, tenantId, idempotency } = message
  return idempotency === undefined ? [id] : [id, `\0${keyScopeOf(tenantId, idempotency.key)}`]
}

async function insert(
  { axis, run, ...how }: AppendContext,
  messages: readonly NewMessage[],
  slots: readonly number[],
): Promise<ReadonlyMap<number, StoredReceipt>> {
  const batch = slots.map((slot) => messages[slot]).filter((message) => message !== undefined)
  const [only] = batch
  const answer = await call(
    run,
    axis,
    only !== undefined && batch.length === 1
      ? appendOneCall(only, how)
      : appendCall(batch, how.inCommitOrder),
  )
  if (answer.startsWith('!')) throw inFlight(answer.slice(1), { slots, messages })
  const [created, list] = answer.split(':')
  const createdAt = new Date(Number(created))
  const placed =
    list === undefined ? slots.map((_, place) => place) : list.split(',').filter(Boolean).map(Number)
  return new Map(
    placed.flatMap((place) => {
      const slot = slots[place]
      const message = batch[place]
      return slot === undefined || message === undefined
        ? []
        : [[slot, receiptOf(message, createdAt)] as const]
    }),
  )
}

async function call(run: Run, axis: AxisNames, { name, values }: AppendCall): Promise<string> {
  const places = values.map((_, index) => `$${String(index + 1)}`).join(', ')
  const [row] = await run(`select ${axis.fn(name)}(${places})`, values)
  return row?.[0] ?? ''
}

interface Resolution {
  readonly context: AppendContext
  readonly messages: readonly NewMessage[]
  readonly results: (AppendResult | undefined)[]
}

/** Decides the slots that were left out, in order; answers those that nothing stands against after all. */
async function resolveTaken(
  { context, messages, results }: Resolution,
  open: readonly number[],
): Promise<number[]> {
  const batch = open.map((slot) => messages[slot]).filter((message) => message !== undefined)
  const known = await readKnown(context.run, context.axis, batch)
  const conflicts: ConflictingSlot[] = []
  const free: number[] = []
  for (const slot of open) {
    const message = messages[slot]
    if (message === undefined) continue
    const decision = decideSlot(message, meet(known.byId.get(message.id), message), byKey(known, message))
    if (decision.kind === 'existing') results[slot] = { status: 'existing', receipt: decision.receipt }
    else if (decision.kind === 'conflict') conflicts.push({ index: slot, id: message.id, on: decision.on })
    else free.push(slot)
  }
  if (conflicts.length > 0) {
    throw new IdempotencyConflictError(
      `${String(conflicts.length)} of ${String(messages.length)} messages have an id or a key that is taken; nothing was written`,
      conflicts,
    )
  }
  return free
}

function byKey(known: KnownMessages, message: NewMessage): ReturnType<typeof meet> {
  const { idempotency, tenantId } = message
  if (idempotency === undefined) return undefined
  return meet(known.byKey.get(keyScopeOf(tenantId, idempotency.key)), message)
}

/** `taken` names places of the call, counted from 1; none: any that takes a lock may have met another. */
function inFlight(
  taken: string,
  { slots, messages }: { readonly slots: readonly number[]; readonly messages: readonly NewMessage[] },
): DuplicateInFlightError {
  const places = new Set(taken.split(',').map((place) => Number(place) - 1))
  const conflicting = slots.flatMap((index, place): ConflictingSlot[] => {
    const message = messages[index]
    if (message === undefined || !(taken === '' ? locksOf(message) > 0 : places.has(place))) return []
    return [{ index, id: message.id, on: message.idempotency === undefined ? 'id' : 'key' }]
  })
  return new DuplicateInFlightError(
    `${String(conflicting.length)} of ${String(messages.length)} messages are being written by another transaction; nothing was written`,
    conflicting,
  )
}

function receiptOf(message: NewMessage, createdAt: Date): StoredReceipt {
  const { id, contractName, contractVersion, tenantId, trace } = message
  const receipt: Mutable<StoredReceipt> = { id, contractName, contractVersion, createdAt }
  if (tenantId !== undefined) receipt.tenantId = tenantId
  if (trace !== undefined) receipt.trace = trace
  return receipt
}
