import { describe, expect, it } from '@jest/globals'
import { openIngress } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { withDeliveries } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'

await describeTransports('the settlement of ingress', ({ withPath }) => {
  describe('when the broker cannot be told that the inbox has accepted', () => {
    it('counts and logs 3004, and redelivery meets the row that is there', () =>
      withPath(async (path) => {
        let accepts = 0
        const subject = await openIngress(path, {
          after: async () => {
            accepts += 1
            if (accepts === 1) await path.fixture.disrupt.cutConnections()
          },
        })
        await subject.ingress.start()
        await subject.order('a')
        await eventually(
          async () => {
            expect(subject.ingress.counts()).toMatchObject({ acked: 1, inFlight: 0 })
            expect(await path.fixture.count(subject.target.source)).toBe(0)
          },
          { expectation: 'the redelivery to be accepted' },
        )
        expect(accepts).toBe(2)
        expect(await path.inboxRows()).toHaveLength(1)
        expect(subject.events()).toContain(3004)
        expect(subject.counted.get('ingress.ack_failed_after_accept')).toBe(1)
      }))

    it('returns the delivery once where nothing was sent, and leaves it to redelivery where that is unknown', () =>
      withPath(async (path) => {
        const refused: string[] = []
        const subject = await openIngress(path, {
          wrap: (transport) =>
            withDeliveries(transport, (delivery) => ({
              ...delivery,
              accept() {
                const id = Buffer.from(delivery.message.body).toString()
                if (refused.includes(id)) return delivery.accept()
                refused.push(id)
                if (id.includes('notSent')) return Promise.resolve('notSent')
                // Sent, and the answer was lost on the way.
                return delivery.accept().then(() => 'unknown')
              },
            })),
        })
        await subject.ingress.start()
        await subject.order('notSent')
        await subject.order('unknown')
        await eventually(
          async () => {
            expect(subject.ingress.counts()).toMatchObject({
              deliveries: 3,
              acked: 1,
              returned: 1,
              unresolved: 1,
              inFlight: 0,
            })
            expect(await path.fixture.count(subject.target.source)).toBe(0)
          },
          { expectation: 'one return and one redelivery' },
        )
        expect(await path.inboxRows()).toHaveLength(2)
        expect(subject.counted.get('ingress.ack_failed_after_accept')).toBe(2)
      }))
  })

  it('stops with deliveries in flight, in the buffer and in a half-filled batch, and loses none of them', () =>
    withPath(async (path) => {
      const subject = await openIngress(path, {
        maxInFlightMessages: 8,
        batch: { enabled: true, size: 6, maxWaitMs: 60_000 },
      })
      for (let index = 0; index < 40; index++) await subject.order(`order-${String(index)}`)
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.counts().inFlight).toBeGreaterThan(0)
        },
        { expectation: 'deliveries in flight' },
      )
      const report = await subject.ingress.stop({ budgetMs: 10_000 })
      const { deliveries, inFlight, ...terminals } = report.settlements
      expect(report).toMatchObject({ outcome: 'graceful', unresolved: [], unsettled: 0 })
      expect(inFlight).toBe(0)
      expect(Object.values(terminals).reduce((sum, count) => sum + count, 0)).toBe(deliveries)
      const rows = await path.inboxRows()
      expect(rows).toHaveLength(report.settlements.acked)
      const next = await openIngress(path, { source: subject.target })
      await next.ingress.start()
      await eventually(
        async () => {
          expect(await path.inboxRows()).toHaveLength(40)
        },
        { expectation: 'the rest to be taken by the next one' },
      )
    }))
})
