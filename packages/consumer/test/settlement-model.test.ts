import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { manualClock, type ManualClock } from '@litebus/conformance'
import type { Delivery, SettlementResult } from '@litebus/core'
import {
  createSettlementBudget,
  settleDelivery,
  type HandoffResult,
  type SettlementDecision,
} from '../src/index.ts'
import { createLedger, type SettlementTerminal } from '../src/ledger.ts'

const budgetMs = 1000

/** What a broker makes of one call: an answer, an error, or no answer within any budget. */
type Answer = SettlementResult | 'throws' | 'silent'

interface Script {
  readonly act: SettlementDecision['act']
  /** What becomes of the copy, and of the dead-letter copy in the place of a retry copy. */
  readonly handoff: HandoffResult
  readonly parked: HandoffResult
  /** Whether the source has a dead-letter place of its own. */
  readonly native: boolean
  /** Answers of the calls in order; what comes after the last is `settled`. */
  readonly answers: readonly Answer[]
}

const script: fc.Arbitrary<Script> = fc.record({
  act: fc.constantFrom('accept', 'retry', 'deadLetter', 'return', 'discard'),
  handoff: fc.constantFrom('confirmed', 'failed', 'cancelled', 'unpublishable'),
  parked: fc.constantFrom('confirmed', 'failed', 'cancelled', 'unpublishable'),
  native: fc.boolean(),
  answers: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<Answer>('notSent') },
      {
        weight: 2,
        arbitrary: fc.constantFrom<Answer>('settled', 'unknown', 'revoked', 'throws', 'silent'),
      },
    ),
    { maxLength: 12 },
  ),
})

type Call = 'accept' | 'return' | 'discard'

interface Played {
  readonly terminal: SettlementTerminal
  readonly handoffs: readonly HandoffResult[]
  readonly calls: readonly { readonly call: Call; readonly answer: Answer; readonly confirmed: boolean }[]
}

/** Settles a delivery whose broker and handoff answer by the script. */
async function play(one: Script, clock: ManualClock): Promise<Played> {
  const calls: { call: Call; answer: Answer; confirmed: boolean }[] = []
  const { act, answers, native } = one
  const handoffs: HandoffResult[] = []
  let confirmed = false
  const answer = (call: Call): Promise<SettlementResult> => {
    const given = answers[calls.length] ?? 'settled'
    calls.push({ call, answer: given, confirmed })
    if (given === 'silent') return new Promise(() => undefined)
    return given === 'throws' ? Promise.reject(new Error('broken')) : Promise.resolve(given)
  }
  const delivery: Delivery = {
    message: { destination: 'orders', body: new Uint8Array(), headers: {} },
    redelivered: false,
    accept: () => answer('accept'),
    returnToQueue: () => answer('return'),
    discard: () => answer('discard'),
  }
  const decision = decisionOf(act, native, (mayRefuse) => {
    const scripted = handoffs.length === 0 ? one.handoff : one.parked
    const result = scripted === 'unpublishable' && !mayRefuse ? 'failed' : scripted
    handoffs.push(result)
    confirmed = result === 'confirmed'
    return result
  })
  return {
    terminal: await settleDelivery(delivery, decision, createSettlementBudget(budgetMs, clock)),
    calls,
    handoffs,
  }
}

/** Lets time pass until all of the paths have ended. */
async function untilEnded<T>(clock: ManualClock, paths: readonly Promise<T>[]): Promise<readonly T[]> {
  let ended: readonly T[] | undefined
  void Promise.all(paths).then((all) => {
    ended = all
  })
  for (let waited = 0; ended === undefined && waited < 20; waited++) await clock.advance(budgetMs)
  if (ended === undefined) throw new Error('expected every path to end')
  return ended
}

function decisionOf(
  act: SettlementDecision['act'],
  native: boolean,
  deliver: (mayRefuse: boolean) => HandoffResult,
): SettlementDecision {
  const copy = { destination: 'elsewhere', messageId: '1', body: new Uint8Array(), headers: {} }
  switch (act) {
    case 'retry':
    case 'deadLetter':
      return {
        act,
        copy,
        handoff: {
          deliver: (_copy, _heldUntil, options) =>
            Promise.resolve(deliver(options?.whenRefused === 'answer')),
        },
        heldUntil: 0,
        mayDiscard: native,
        parked: () => copy,
      }
    case 'discard':
      return { act, reason: 'NO' }
    default:
      return { act }
  }
}

const claims: Readonly<Partial<Record<SettlementTerminal, Call>>> = {
  acked: 'accept',
  acked_retry: 'accept',
  acked_dead_letter: 'accept',
  returned: 'return',
  discarded: 'discard',
}
const acceptedAs: Readonly<Partial<Record<SettlementTerminal, readonly SettlementDecision['act'][]>>> = {
  acked: ['accept'],
  acked_retry: ['retry'],
  // A retry copy that can never be published is parked instead.
  acked_dead_letter: ['deadLetter', 'retry'],
}

/** The rules that a path broke, apart from how it is implemented. */
function brokenRules({ act, native }: Script, { terminal, calls, handoffs }: Played): readonly string[] {
  const last = calls.at(-1)
  const hop = act === 'retry' || act === 'deadLetter'
  const claimed = claims[terminal]
  const holds = {
    'nothing follows a call that may have reached the broker': calls
      .slice(0, -1)
      .every(({ answer }) => answer === 'notSent'),
    'nothing is accepted without success or a confirmed copy': calls.every(
      ({ call, confirmed }) => call !== 'accept' || act === 'accept' || confirmed,
    ),
    'nothing is discarded but by decision, or where the broker parks what no copy can be made of':
      calls.every(
        ({ call }) =>
          call !== 'discard' || act === 'discard' || (native && hop && handoffs.at(-1) === 'unpublishable'),
      ),
    'a cancelled handoff leaves the source alone':
      handoffs.at(-1) !== 'cancelled' || (terminal === 'unresolved' && calls.length === 0),
    'a second copy is only made in the place of one that can never be published':
      handoffs.length < 2 || (act === 'retry' && handoffs[0] === 'unpublishable' && handoffs.length === 2),
    'a retry is counted as one only if its own copy was confirmed':
      terminal !== 'acked_retry' || handoffs.join() === 'confirmed',
    'what a terminal claims was settled':
      claimed === undefined || (last?.call === claimed && last.answer === 'settled'),
    'what was settled is not called uncertain': claimed !== undefined || last?.answer !== 'settled',
    'redelivery is only pending where the authority was revoked':
      terminal !== 'pending_redelivery' || last?.answer === 'revoked',
    'an accept is counted by what was decided': acceptedAs[terminal]?.includes(act) ?? true,
  }
  return Object.entries(holds).flatMap(([rule, kept]) => (kept ? [] : [rule]))
}

describe('settling a delivery', () => {
  it('keeps the rules on every path of answers', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (one) => {
        const clock = manualClock()
        const [played] = await untilEnded(clock, [play(one, clock)])
        expect(played && brokenRules(one, played)).toEqual([])
      }),
      { numRuns: 1000 },
    )
  }, 60_000)

  it('keeps the ledger adding up at each step, with exactly one terminal a delivery, however paths overlap', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(script, { maxLength: 8 }), async (scripts) => {
        const clock = manualClock()
        const terminals: SettlementTerminal[] = []
        const sums: boolean[] = []
        const ledger = createLedger((terminal) => terminals.push(terminal))
        const look = (): void => {
          const { deliveries, inFlight, ...counts } = ledger.counts()
          sums.push(Object.values(counts).reduce((sum, count) => sum + count, inFlight) === deliveries)
        }
        const paths = scripts.map(async (one) => {
          const close = ledger.open()
          look()
          const { terminal } = await play(one, clock)
          close(terminal)
          close('discarded')
          look()
          return terminal
        })
        const ended = await untilEnded(clock, paths)
        expect(terminals.toSorted()).toEqual([...ended].toSorted())
        expect(ledger.counts()).toMatchObject({ deliveries: scripts.length, inFlight: 0 })
        expect(sums).not.toContain(false)
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})
