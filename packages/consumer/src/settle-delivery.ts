import {
  hopHeaders,
  sleep,
  withinOr,
  type Delivery,
  type OutboundMessage,
  type ReturnOptions,
  type SettlementResult,
} from '@litebus/core'
import type { Handoff, HandoffResult } from './handoff.ts'
import type { SettlementTerminal } from './ledger.ts'
import type { SettlementBudget } from './settlement-budget.ts'
import {
  isAskedAgain,
  nextSettlement,
  settlementStarts,
  type SettlementEvent,
  type SettlementState,
} from './settlement-path.ts'

/** What was decided about a delivery. */
export type SettlementDecision =
  /** Its work is done. */
  | { readonly act: 'accept' }
  /** It goes back for redelivery. */
  | { readonly act: 'return'; readonly options?: ReturnOptions }
  /** It leaves its source without success. The reason is a code, never text of an error. */
  | { readonly act: 'discard'; readonly reason: string }
  /** A copy takes its place: once that is confirmed, the original is accepted. */
  | {
      readonly act: 'retry' | 'deadLetter'
      /** The copy. */
      readonly copy: OutboundMessage
      /** Publishes it. */
      readonly handoff: Handoff
      /** Until when the delivery may be held, by the monotonic clock. */
      readonly heldUntil: number
      /**
       * Whether it may be discarded when its copy can never be published: its source has a dead-letter place of its own,
       * or discarding was asked for. Otherwise it is held, and in the end goes back. @defaultValue false
       */
      readonly mayDiscard?: boolean
      /** Builds the dead-letter copy that takes the place of a retry copy which can never be published. */
      readonly parked?: (() => OutboundMessage) | undefined
    }

/**
 * Does what was decided, and what follows from each answer, until the delivery has its terminal. After a call that may
 * have reached the broker nothing more is sent: an accept and a return of one delivery close an AMQP channel with
 * everything it holds.
 */
export function settleDelivery(
  delivery: Delivery,
  decision: SettlementDecision,
  budget: SettlementBudget,
): Promise<SettlementTerminal> {
  return follow(settlementStarts[decision.act], { delivery, decision, budget })
}

/**
 * Accepts deliveries whose work is done. Those that the transport answers for with one promise, as for the records of
 * one commit, wait for it together: most of what settling one of them costs would be its wait. `ended` is told the
 * terminal of each, now or later, never with a rejection of its own making.
 */
export function acceptDeliveries<Entry extends { readonly delivery: Delivery }>(
  entries: readonly Entry[],
  budget: SettlementBudget,
  ended: (entry: Entry, terminal: SettlementTerminal | Promise<SettlementTerminal>) => void,
): void {
  let together: { readonly answer: Promise<SettlementResult>; readonly waiting: Entry[] } | undefined
  for (const entry of entries) {
    let answer: Promise<SettlementResult>
    try {
      answer = entry.delivery.accept()
    } catch (error) {
      ended(entry, Promise.reject(threw(error)))
      continue
    }
    if (together !== undefined && together.answer === answer) {
      together.waiting.push(entry)
      continue
    }
    const waiting = [entry]
    together = { answer, waiting }
    void budget.answerTo(answer).then((result) => {
      const state = nextSettlement(settlementStarts.accept, result)
      for (const one of waiting) {
        const settlement: Settlement = { delivery: one.delivery, decision: { act: 'accept' }, budget }
        ended(one, state.at === 'ended' ? state.terminal : follow(state, settlement))
      }
    })
  }
}

/** One step and those behind it: a delivery that is plainly accepted, as most are, costs one callback. */
function follow(state: SettlementState, settlement: Settlement): Promise<SettlementTerminal> {
  if (state.at === 'ended') return Promise.resolve(state.terminal)
  return performSafely(state, settlement).then((event) => {
    const next = nextSettlement(state, event)
    return next.at === 'ended' ? next.terminal : follow(next, settlement)
  })
}

/** A transport may throw where it should reject. */
function performSafely(state: OpenState, settlement: Settlement): Promise<SettlementEvent> {
  try {
    return perform(state, settlement)
  } catch (error) {
    return Promise.reject(threw(error))
  }
}

function threw(cause: unknown): Error {
  return new Error('a settlement call threw instead of rejecting', { cause })
}

type OpenState = Exclude<SettlementState, { readonly at: 'ended' }>

interface Settlement {
  readonly delivery: Delivery
  readonly decision: SettlementDecision
  readonly budget: SettlementBudget
}

/**
 * One call at the broker, or one handoff. A state is only reached from the decision that brings what it needs, which
 * type checking does not see.
 */
function perform(state: OpenState, { delivery, decision, budget }: Settlement): Promise<SettlementEvent> {
  switch (state.at) {
    case 'accept':
      return isAskedAgain(state)
        ? untilSent(() => delivery.accept(), budget)
        : budget.answerTo(delivery.accept())
    case 'handOff':
      return handOver(state.hop, decision)
    case 'return': {
      const { options = {} } = decision.act === 'return' ? decision : {}
      const budgetMs = budget.budgetMs + (options.delayMs ?? 0)
      return untilSent(() => delivery.returnToQueue(options), { ...budget, budgetMs })
    }
    case 'discard': {
      const reason = reasonOf(decision)
      return untilSent(() => delivery.discard({ reason }), budget)
    }
  }
}

function handOver(hop: 'retry' | 'deadLetter', decision: SettlementDecision): Promise<HandoffResult> {
  if (!('copy' in decision)) return Promise.resolve('failed')
  const { handoff, heldUntil, mayDiscard = false } = decision
  const copy = hop === decision.act ? decision.copy : decision.parked?.()
  if (copy === undefined) return Promise.resolve(mayDiscard ? 'unpublishable' : 'failed')
  return handoff.deliver(copy, heldUntil, {
    whenRefused: hop === 'retry' || mayDiscard ? 'answer' : 'hold',
  })
}

/** A copy that cannot be published says why the original was to be parked. */
function reasonOf(decision: SettlementDecision): string {
  if (decision.act === 'discard') return decision.reason
  return 'copy' in decision ? (decision.copy.headers[hopHeaders.failureCode] ?? '') : ''
}

const firstRepeatMs = 50

/** Nothing was sent and the authority is intact: asks again while the budget lasts. */
async function untilSent(
  settle: () => Promise<SettlementResult>,
  { budgetMs, clock }: Pick<SettlementBudget, 'budgetMs' | 'clock'>,
): Promise<SettlementResult> {
  const deadline = clock.monotonic() + budgetMs
  for (let waitMs = firstRepeatMs; ; waitMs *= 2) {
    // What takes longer may still reach the broker: unknown.
    const left = { clock, limitMs: deadline - clock.monotonic(), otherwise: 'unknown' } as const
    const result = await withinOr(settle(), left)
    if (result !== 'notSent' || clock.monotonic() + waitMs >= deadline) return result
    await sleep(clock, waitMs)
  }
}
