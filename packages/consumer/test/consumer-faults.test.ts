import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { reject, retry, type HandlerReturn } from '@litebus/core'
import type { SettlementCounts } from '../src/index.ts'
import { bench } from './arrange.ts'

const results: Readonly<Record<string, () => HandlerReturn>> = {
  success: () => undefined,
  retry: () => retry({ code: 'LATER' }),
  reject: () => reject({ code: 'NEVER' }),
  throw: () => {
    throw new Error('x')
  },
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('result' as const), result: fc.constantFrom(...Object.keys(results)) }),
  fc.record({
    kind: fc.constant('publish' as const),
    status: fc.constantFrom('rejected' as const, 'ambiguous' as const, 'unavailable' as const),
    stored: fc.boolean(),
    times: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('settlement' as const),
    result: fc.constantFrom('notSent' as const, 'unknown' as const),
    arrived: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('redeliver' as const, 'drop' as const, 'cancel' as const) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
)

function sumOf(counts: SettlementCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0) - counts.deliveries
}

describe('whatever goes wrong', () => {
  it('the ledger adds up and no message is settled away without a success or a confirmed copy', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, inline) => {
        const { broker, clock, consumer, order, waiting } = bench()
        const plan = steps.flatMap((one) => (one.kind === 'result' ? [one.result] : []))
        const succeeded = new Set<string>()
        const subject = consumer(
          ({ id }) => {
            const result = plan.shift() ?? 'success'
            if (result === 'success') succeeded.add(id)
            return results[result]?.()
          },
          {
            concurrency: 3,
            retry: {
              mode: inline ? 'inline' : 'brokerDelayed',
              maxAttempts: 3,
              deadLetterDestination: 'orders.dead',
            },
          },
        )
        const ids = ['a', 'b', 'c', 'd']
        order(...ids)
        await subject.start()
        for (const one of steps) {
          if (one.kind === 'publish') broker.faults.failNextPublish(one)
          if (one.kind === 'settlement') broker.faults.failNextSettlement(one)
          if (one.kind === 'redeliver') broker.faults.redeliver('orders')
          if (one.kind === 'drop') broker.faults.dropConnections()
          if (one.kind === 'cancel') broker.faults.cancelConsumers('orders')
          await clock.advance(one.kind === 'wait' ? one.ms : 1)
          const counts = subject.counts()
          expect(sumOf(counts)).toBe(counts.deliveries)
        }
        await clock.advance(3_600_000)
        const counts = subject.counts()
        expect([counts.inFlight, sumOf(counts)]).toEqual([0, counts.deliveries])
        const parked = new Set(waiting('orders.dead').map(({ messageId }) => messageId))
        expect(ids.filter((id) => !succeeded.has(id) && !parked.has(id))).toEqual([])
        expect(broker.count('orders')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
        expect((await subject.stop()).outcome).toBe('graceful')
      }),
      { numRuns: 150 },
    )
  })
})
