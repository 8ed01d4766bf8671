import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { manualClock } from '@litebus/conformance'
import type { Delivery, SettlementResult } from '@litebus/core'
import { acceptDeliveries, createSettlementBudget, type SettlementTerminal } from '../src/index.ts'

const budgetMs = 1000

/** What a transport makes of the accepts that it answers for together; `throws`: each call throws. */
type Answer = SettlementResult | 'rejects' | 'silent' | 'throws'

const terminals: Readonly<Record<Exclude<Answer, 'throws'>, SettlementTerminal>> = {
  settled: 'acked',
  notSent: 'returned',
  unknown: 'unresolved',
  revoked: 'pending_redelivery',
  rejects: 'unresolved',
  silent: 'unresolved',
}

const answers = Object.keys({ ...terminals, throws: '' }) as Answer[]

interface Accepted {
  readonly answer: Answer
  readonly returns: { count: number }
  readonly delivery: Delivery
}

/** Deliveries in groups of one answer each, in an order that mixes the groups. */
const groups = fc.array(fc.constantFrom(...answers), { minLength: 1, maxLength: 4 }).chain((kinds) =>
  fc.record({
    kinds: fc.constant(kinds),
    members: fc.array(fc.nat({ max: kinds.length - 1 }), { maxLength: 12 }),
  }),
)

function deliveriesOf(kinds: readonly Answer[], members: readonly number[]): readonly Accepted[] {
  const shared = kinds.map((answer): Promise<SettlementResult> => {
    if (answer === 'silent' || answer === 'throws') return new Promise(() => undefined)
    const promise =
      answer === 'rejects' ? Promise.reject<SettlementResult>(new Error('broken')) : Promise.resolve(answer)
    promise.catch(() => undefined)
    return promise
  })
  return members.map((group) => {
    const answer = kinds[group] ?? 'settled'
    const returns = { count: 0 }
    return {
      answer,
      returns,
      delivery: {
        message: { destination: 'orders', body: new Uint8Array(), headers: {} },
        redelivered: false,
        accept() {
          if (answer === 'throws') throw new Error('broken')
          return shared[group] ?? Promise.resolve('settled')
        },
        returnToQueue() {
          returns.count += 1
          return Promise.resolve('settled')
        },
        discard: () => Promise.resolve('unknown'),
      },
    }
  })
}

describe('accepting several deliveries', () => {
  it('of a transport without types that answers nothing leaves them to redelivery', async () => {
    const [first, second] = deliveriesOf(['settled'], [0, 0])
    const terminals: unknown[] = []
    const silent = [first, second].map((entry) => ({
      ...entry,
      delivery: { ...(entry?.delivery as Delivery), accept: () => undefined as never },
    }))
    acceptDeliveries(silent, createSettlementBudget(budgetMs, manualClock()), (_, terminal) =>
      terminals.push(terminal),
    )
    await Promise.resolve()
    await new Promise(setImmediate)
    expect(terminals).toEqual(['unresolved', 'unresolved'])
  })

  it('ends each of them once, as its answer says, whoever shares it; one that throws fails alone', async () => {
    await fc.assert(
      fc.asyncProperty(groups, async ({ kinds, members }) => {
        const clock = manualClock()
        const entries = deliveriesOf(kinds, members)
        const ended = new Map<Accepted, SettlementTerminal[]>(entries.map((entry) => [entry, []]))
        acceptDeliveries(entries, createSettlementBudget(budgetMs, clock), (entry, terminal) => {
          void Promise.resolve(terminal).then(
            (one) => ended.get(entry)?.push(one),
            () => ended.get(entry)?.push('discarded'),
          )
        })
        await clock.advance(budgetMs)
        await clock.advance(budgetMs)
        for (const [{ answer, returns }, found] of ended) {
          expect(found).toEqual([answer === 'throws' ? 'discarded' : terminals[answer]])
          expect(returns.count).toBe(answer === 'notSent' ? 1 : 0)
        }
      }),
      { numRuns: 300 },
    )
  })
})
