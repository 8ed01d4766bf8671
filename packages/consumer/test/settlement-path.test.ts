import { describe, expect, it } from '@jest/globals'
import {
  isAskedAgain,
  nextSettlement,
  settlementStarts,
  type SettlementEvent,
  type SettlementState,
} from '../src/settlement-path.ts'

const events: readonly SettlementEvent[] = [
  'settled',
  'notSent',
  'unknown',
  'revoked',
  'confirmed',
  'failed',
  'cancelled',
  'unpublishable',
]

/** The whole machine: each state with where each event leads, in the order of `events`. */
const table: Readonly<Record<string, readonly string[]>> = {
  'accept acked': [
    'ended acked',
    'return',
    'ended unresolved',
    'ended pending_redelivery',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
  ],
  'accept acked_retry': [
    'ended acked_retry',
    'return',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
  ],
  'accept acked_dead_letter': [
    'ended acked_dead_letter',
    'return',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
  ],
  'handOff retry': [
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'accept acked_retry',
    'return',
    'ended unresolved',
    'handOff deadLetter',
  ],
  'handOff deadLetter': [
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'accept acked_dead_letter',
    'return',
    'ended unresolved',
    'discard',
  ],
  return: [
    'ended returned',
    'ended unresolved',
    'ended unresolved',
    'ended pending_redelivery',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
  ],
  discard: [
    'ended discarded',
    'ended unresolved',
    'ended unresolved',
    'ended pending_redelivery',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
    'ended unresolved',
  ],
  ...Object.fromEntries(
    [
      'acked',
      'acked_retry',
      'acked_dead_letter',
      'returned',
      'discarded',
      'pending_redelivery',
      'unresolved',
    ].map((terminal) => [`ended ${terminal}`, events.map(() => `ended ${terminal}`)]),
  ),
}

function nameOf(state: SettlementState): string {
  switch (state.at) {
    case 'accept':
      return `accept ${state.as}`
    case 'handOff':
      return `handOff ${state.hop}`
    case 'ended':
      return `ended ${state.terminal}`
    default:
      return state.at
  }
}

/** Every state that any sequence of events reaches from any decision. */
function reachable(): ReadonlyMap<string, SettlementState> {
  const found = new Map<string, SettlementState>()
  const open: SettlementState[] = Object.values(settlementStarts)
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (found.has(nameOf(state))) continue
    found.set(nameOf(state), state)
    for (const event of events) open.push(nextSettlement(state, event))
  }
  return found
}

describe('the settlement path', () => {
  it('reaches exactly the states of the table', () => {
    expect([...reachable().keys()].sort()).toEqual(Object.keys(table).sort())
  })

  it.each([...reachable()].flatMap(([name, state]) => events.map((event) => ({ name, state, event }))))(
    'in $name leads by $event to the next state of the table',
    ({ name, state, event }) => {
      expect(nameOf(nextSettlement(state, event))).toBe(table[name]?.[events.indexOf(event)])
    },
  )

  it('ends within four steps, whatever is answered', () => {
    const longest = (state: SettlementState): number =>
      state.at === 'ended' ? 0 : 1 + Math.max(...events.map((event) => longest(nextSettlement(state, event))))
    expect(Object.values(settlementStarts).map(longest)).toEqual([2, 4, 3, 1, 1])
  })

  it('ends unresolved at an answer that no transport may give', () => {
    expect(nextSettlement(settlementStarts.accept, 'acknowledged' as never)).toEqual({
      at: 'ended',
      terminal: 'unresolved',
    })
  })

  it('asks again for everything but the accept of finished work', () => {
    const asked = [...reachable()].filter(([, state]) => isAskedAgain(state)).map(([name]) => name)
    expect(asked.sort()).toEqual(['accept acked_dead_letter', 'accept acked_retry', 'discard', 'return'])
  })
})
