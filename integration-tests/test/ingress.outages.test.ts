import { expect, it } from '@jest/globals'
import { openIngress } from '../ingress/open-ingress.ts'
import { openFragileStore, storeOutages } from '../ingress/store-outages.ts'
import { eventually } from '../services/index.ts'
import { withDeliveries, withSubscribes } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'

const long = process.env['LITEBUS_LONG'] === '1'
const outageMs = long ? 180_000 : 2500
const messages = 60

await describeTransports('ingress and an outage of its store', ({ profile, membership, withPath }) => {
  const kind = profile.kinds.limited === undefined ? 'plain' : 'limited'

  it.concurrent.each(storeOutages)(
    'of the kind "$name" loses nothing, dead-letters nothing, redelivers nothing, and goes on by itself in the same subscription',
    ({ begin }) =>
      withPath(async (path) => {
        const fragile = await openFragileStore(path)
        const handed = new Map<string, number>()
        let subscriptions = 0
        const subject = await openIngress(path, {
          source: kind,
          inboxStore: fragile.storage.inbox,
          maxInFlightMessages: 16,
          // The store itself waits longer for an answer.
          executionBudgetMs: 500,
          wrap: (transport) =>
            withDeliveries(
              withSubscribes(transport, () => (subscriptions += 1)),
              (delivery) => {
                const id = Buffer.from(delivery.message.body).toString()
                handed.set(id, (handed.get(id) ?? 0) + 1)
                return delivery
              },
            ),
        })
        const end = await begin(fragile)
        for (let index = 0; index < messages; index++) await subject.order(`order-${String(index)}`)
        await subject.ingress.start()
        await eventually(
          () => {
            expect(subject.ingress.pausedBy).toContain('store')
          },
          { expectation: 'intake to stand still' },
        )
        const before = await membership(subject.target.source)
        await new Promise((resolve) => setTimeout(resolve, outageMs))
        expect(subject.ingress.counts()).toMatchObject({ acked: 0, discarded: 0, acked_dead_letter: 0 })
        expect(await membership(subject.target.source)).toEqual(before)
        await end()
        await eventually(
          () => {
            expect(subject.ingress.counts()).toMatchObject({ acked: messages, discarded: 0, inFlight: 0 })
          },
          { expectation: 'intake to go on by itself', timeoutMs: 60_000 },
        )
        expect(await membership(subject.target.source)).toEqual(before)
        expect(subscriptions).toBe(1)
        expect(await path.inboxRows()).toHaveLength(messages)
        expect(await path.fixture.count(subject.target.source)).toBe(0)
        const dead = subject.target.deadLetterSource
        expect(dead === undefined ? 0 : await path.fixture.count(dead)).toBe(0)
        expect(handed.size).toBe(messages)
        // Held throughout, and given back by nobody: well below the three redeliveries that the limit allows.
        expect(Math.max(...handed.values())).toBe(1)
      }),
    outageMs + 120_000,
  )
})
