import {
  sleep,
  inTime,
  type Clock,
  type Delivery,
  type ReturnOptions,
  type SettlementResult,
} from '@litebus/core'
import type { SettlementTerminal } from './ledger.ts'

/** How long a settlement may take and by which clock. */
export interface SettlementBudget {
  /** Milliseconds. */
  readonly budgetMs: number
  /** Time. */
  readonly clock: Clock
}

/** What an accept led to. */
export interface AcceptResult {
  /** Terminal of the delivery. */
  readonly terminal: SettlementTerminal
  /** What the broker accept itself resolved. */
  readonly result: SettlementResult
}

/**
 * Accepts a delivery whose work is done. After `notSent` the authority is intact and the delivery is given back
 * once; after `unknown` nothing more is sent (an accept and a return of one delivery close an AMQP channel with
 * everything it holds), and redelivery meets the finished work.
 */
export async function acceptDelivery(delivery: Delivery, budget: SettlementBudget): Promise<AcceptResult> {
  const result = await settledInTime(delivery.accept(), budget)
  if (result === 'notSent') return { terminal: await returnDelivery(delivery, budget), result }
  return { terminal: terminalOf(result, 'acked'), result }
}

/**
 * Accepts a delivery whose copy is confirmed. Where the accept is uncertain nothing else is sent. Where it certainly
 * was not sent it is asked for again, since a delivery that nobody settles keeps its place for ever; in the end it
 * goes back, and redelivery makes the same hop once more.
 */
export async function acceptAfterHandoff(
  delivery: Delivery,
  budget: SettlementBudget,
  terminal: 'acked_retry' | 'acked_dead_letter',
): Promise<SettlementTerminal> {
  const result = await untilSent(() => delivery.accept(), budget)
  if (result === 'notSent') return returnDelivery(delivery, budget)
  return result === 'settled' ? terminal : 'unresolved'
}

/** Gives a delivery back. */
export async function returnDelivery(
  delivery: Delivery,
  budget: SettlementBudget,
  options: ReturnOptions = {},
): Promise<SettlementTerminal> {
  const delayed = { ...budget, budgetMs: budget.budgetMs + (options.delayMs ?? 0) }
  return terminalOf(await untilSent(() => delivery.returnToQueue(options), delayed), 'returned')
}

/** Takes a delivery off its source without success. The reason is a code, never text of an error. */
export async function discardDelivery(
  delivery: Delivery,
  budget: SettlementBudget,
  reason: string,
): Promise<SettlementTerminal> {
  return terminalOf(await untilSent(() => delivery.discard({ reason }), budget), 'discarded')
}

function terminalOf(result: SettlementResult, settled: SettlementTerminal): SettlementTerminal {
  if (result === 'settled') return settled
  return result === 'revoked' ? 'pending_redelivery' : 'unresolved'
}

const firstRepeatMs = 50

/** Nothing was sent and the authority is intact: asks again while the budget lasts. */
async function untilSent(
  settle: () => Promise<SettlementResult>,
  { budgetMs, clock }: SettlementBudget,
): Promise<SettlementResult> {
  const deadline = clock.monotonic() + budgetMs
  for (let waitMs = firstRepeatMs; ; waitMs *= 2) {
    const result = await settledInTime(settle(), { budgetMs: deadline - clock.monotonic(), clock })
    if (result !== 'notSent' || clock.monotonic() + waitMs >= deadline) return result
    await sleep(clock, waitMs)
  }
}

/** A settlement that takes longer than its budget may still reach the broker: unknown. */
function settledInTime(
  settlement: Promise<SettlementResult>,
  { budgetMs: limitMs, clock }: SettlementBudget,
): Promise<SettlementResult> {
  return inTime(settlement, { clock, limitMs, onLate }).catch(unknown)
}

function onLate(): Error {
  return new Error('expected the settlement to be sent in time')
}

function unknown(): SettlementResult {
  return 'unknown'
}
