import type { SettlementResult } from '@litebus/core'
import type { HandoffResult } from './handoff.ts'
import type { SettlementTerminal } from './ledger.ts'

/** Terminals of an accept: of work that is done, or of a copy that is confirmed. */
type AcceptTerminal = 'acked' | 'acked_retry' | 'acked_dead_letter'

/** Where the settlement of one delivery stands, which is also what is done next. */
export type SettlementState =
  | { readonly at: 'accept'; readonly as: AcceptTerminal }
  | { readonly at: 'handOff'; readonly hop: 'retry' | 'deadLetter' }
  | { readonly at: 'return' }
  | { readonly at: 'discard' }
  | { readonly at: 'ended'; readonly terminal: SettlementTerminal }

/** What can be decided about a delivery. */
export type SettlementAct = 'accept' | 'retry' | 'deadLetter' | 'return' | 'discard'

/** What became of what was done: the result of a settlement call, or that of a handoff. */
export type SettlementEvent = SettlementResult | HandoffResult

type Answers = Readonly<Partial<Record<SettlementEvent, SettlementState>>>

const ended = (terminal: SettlementTerminal): SettlementState => ({ at: 'ended', terminal })
const accept = (as: AcceptTerminal): SettlementState => ({ at: 'accept', as })

const giveBack: SettlementState = { at: 'return' }
const unresolved = ended('unresolved')
const pendingRedelivery = ended('pending_redelivery')

/** Where the settlement of a delivery begins, by what was decided about it. */
export const settlementStarts: Readonly<Record<SettlementAct, SettlementState>> = {
  accept: accept('acked'),
  retry: { at: 'handOff', hop: 'retry' },
  deadLetter: { at: 'handOff', hop: 'deadLetter' },
  return: giveBack,
  discard: { at: 'discard' },
}

const afterAccept: Readonly<Record<AcceptTerminal, Answers>> = {
  acked: { settled: ended('acked'), notSent: giveBack, revoked: pendingRedelivery },
  // Revoked here is no plain redelivery: the confirmed copy stands beside it.
  acked_retry: { settled: ended('acked_retry'), notSent: giveBack },
  acked_dead_letter: { settled: ended('acked_dead_letter'), notSent: giveBack },
}
const afterHandOff: Readonly<Record<'retry' | 'deadLetter', Answers>> = {
  // A copy that can never be published is no retry: it is parked, in the end where the broker itself parks.
  retry: {
    confirmed: accept('acked_retry'),
    failed: giveBack,
    unpublishable: { at: 'handOff', hop: 'deadLetter' },
  },
  deadLetter: { confirmed: accept('acked_dead_letter'), failed: giveBack, unpublishable: { at: 'discard' } },
}
const afterReturn: Answers = { settled: ended('returned'), revoked: pendingRedelivery }
const afterDiscard: Answers = { settled: ended('discarded'), revoked: pendingRedelivery }

/**
 * The next state of a settlement. Total: an answer that says nothing about where the delivery is (`unknown`,
 * `cancelled`, or one that cannot come here) ends it unresolved, so that nothing more is sent. No I/O.
 */
export function nextSettlement(state: SettlementState, event: SettlementEvent): SettlementState {
  switch (state.at) {
    case 'accept':
      return afterAccept[state.as][event] ?? unresolved
    case 'handOff':
      return afterHandOff[state.hop][event] ?? unresolved
    case 'return':
      return afterReturn[event] ?? unresolved
    case 'discard':
      return afterDiscard[event] ?? unresolved
    case 'ended':
      return state
  }
}

/**
 * Whether a call that was certainly not sent is made again while the budget lasts, before `notSent` counts. Not the
 * accept of finished work: giving that back once is safe, since redelivery meets what was stored. Everything else is
 * the last that is done to the delivery, or has a copy beside it, and what nobody settles keeps its place for ever.
 */
export function isAskedAgain(state: SettlementState): boolean {
  return state.at === 'return' || state.at === 'discard' || (state.at === 'accept' && state.as !== 'acked')
}
