import { deepStrictEqual, ok } from 'node:assert/strict'
import type { StoreCapabilities, StoreFixture } from '../store-fixture.ts'
import { aMessage, aRequest, leaseAll, leaseSoon, only, retried, type StoreCase } from '../support.ts'

const tenYears = 10 * 365 * 86_400_000

/** The clock of the store decides; the caller's may be anything. */
export const clockSkewCases: readonly StoreCase[] = [-tenYears, tenYears].map((offset) => ({
  concern: 'clock skew',
  title: `changes nothing when the caller's clock is ten years ${offset < 0 ? 'behind' : 'ahead'}`,
  needs: {
    capability: 'separateClock',
    met: (capabilities: StoreCapabilities) => capabilities.separateClock,
  },
  run: async (fixture: StoreFixture): Promise<void> => {
    const { inbox } = fixture
    const skewed = (await fixture.skewed?.(offset))?.inbox
    ok(skewed)
    const delayed = aMessage({ visibility: { afterMs: 1500 } })
    await skewed.append([aMessage(), delayed])
    const first = only((await skewed.lease(aRequest())).envelopes)
    deepStrictEqual(await leaseAll(inbox, { owner: 'worker-2' }), [])
    await skewed.settle([retried(first, 1500)])
    deepStrictEqual(await leaseAll(inbox), [])
    await fixture.pass(1550)
    deepStrictEqual((await leaseAll(inbox, { leaseMs: 1000 })).length, 2)
    const suspect = only((await leaseSoon(fixture, skewed)).envelopes)
    ok(suspect.suspect)
    const record = await inbox.get(suspect.message.id)
    ok(Math.abs((record?.message.createdAt.getTime() ?? 0) - Date.now()) < tenYears / 2)
  },
}))
