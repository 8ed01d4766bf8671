import { concern, type TransportCase } from '../support/define.ts'
import { expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { message } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** Delays of publishes: kept where they are declared, refused where they are not, never ignored. */
export const delayCases: readonly TransportCase[] = concern('delay', [
  {
    title: 'a delayed publish is not delivered before its delay is over, and later ones may pass it',
    needs: { capability: 'delayedDelivery', met: ({ kinds }) => kinds.plain.delayedDelivery },
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      const publishedAt = performance.now()
      await publishAll(transport, [message(target, 'delayed', { delayMs: 500 }), message(target, 'at once')])
      await receiver.nth(2)
      expectThat(performance.now() - publishedAt >= 498, 'expected the delay of 500 ms to be kept')
      expectEqual(receiver.ids(), ['at once', 'delayed'], 'deliveries')
    },
  },
  {
    title: 'a delay that the destination does not have is rejected instead of ignored',
    needs: { capability: 'no delayedDelivery', met: ({ kinds }) => !kinds.plain.delayedDelivery },
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const [outcome] = await transport.publisher.publish([message(target, 'delayed', { delayMs: 500 })])
      expectEqual(outcome?.status, 'rejected', 'outcome')
    },
  },
])
