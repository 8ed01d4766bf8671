import { isLiteBusError } from '@litebus/core'
import { concern, type TransportCase } from '../support/define.ts'
import { eventually } from '../support/eventually.ts'
import { expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { message } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** A consumer that the broker ends goes on or fails aloud. */
export const cancelledConsumerCases: readonly TransportCase[] = concern('cancelled consumer', [
  {
    title: 'a consumer cancelled by the broker subscribes again and gets what comes',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      await publishAll(transport, [message(target, 'before')])
      await receiver.nth(1)
      await fixture.disrupt.cancelConsumers(target.source)
      await eventually(
        'a publish to be confirmed',
        async () => (await transport.publisher.publish([message(target, 'after')]))[0]?.status,
        { until: (status) => status === 'confirmed' },
      )
      await receiver.nth(2)
      expectEqual(receiver.subscription.state, 'consuming', 'state')
    },
  },
  {
    title: 'a consumer whose source is deleted fails aloud, with the reason',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const failures: unknown[] = []
      const receiver = await receive(transport, target.source, {
        onFailure: (error) => failures.push(error),
      })
      await fixture.deleteSource(target.source)
      await eventually('calls of onFailure', () => failures.length, { until: (count) => count > 0 })
      expectEqual(receiver.subscription.state, 'failed', 'state')
      expectThat(isLiteBusError(failures[0], 'TOPOLOGY_MISMATCH'), 'expected an error TOPOLOGY_MISMATCH')
      await receiver.subscription.stop({ budgetMs: 0 })
      expectEqual(failures.length, 1, 'calls of onFailure')
    },
  },
])
