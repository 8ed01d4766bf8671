import { concern, needsLog, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { message } from '../support/messages.ts'
import { receive } from '../support/receiver.ts'

/** What is given back comes again, and says so. */
export const redeliveryCases: readonly TransportCase[] = concern('redelivery', [
  {
    title: 'a first delivery is not marked redelivered, a second one is, under the same id',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'again')])
      const first = await receiver.nth(1)
      expectEqual(await first.returnToQueue(), 'settled', 'result of the return')
      const second = await receiver.nth(2)
      expectEqual([first.redelivered, second.redelivered], [false, true], 'redelivered flags')
      expectEqual(second.deliveryId, first.deliveryId, 'delivery id')
      expectEqual([...second.message.body], [...first.message.body], 'body')
      expectEqual(await second.accept(), 'settled', 'result of the accept')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'the delivery count is 1 at first and grows by one with each delivery',
    needs: { capability: 'deliveryCount', met: ({ kinds }) => kinds.plain.deliveryCount },
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'counted')])
      for (const count of [1, 2, 3, 4]) {
        const delivery = await receiver.nth(count)
        expectEqual(delivery.deliveryCount, count, 'delivery count')
        if (count < 4) await delivery.returnToQueue()
        else await delivery.accept()
      }
    },
  },
  {
    title: 'attempt and first failure travel with a return, and outlive the consumer',
    needs: needsLog,
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const firstFailureAt = new Date('2026-01-02T03:04:05.678Z')
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'failing')])
      const first = await receiver.nth(1)
      expectEqual(
        [first.attempt, first.firstFailureAt],
        [undefined, undefined],
        'what a first delivery carries',
      )
      expectEqual(
        await first.returnToQueue({ attempt: 2, firstFailureAt }),
        'settled',
        'result of the return',
      )
      const second = await receiver.nth(2)
      expectEqual([second.attempt, second.firstFailureAt], [2, firstFailureAt], 'what the second carries')
      await receiver.subscription.stop({ budgetMs: 0 })
      const other = await receive(scope.use(fixture.connect()), target.source)
      const third = await other.nth(1)
      expectEqual([third.attempt, third.firstFailureAt], [2, firstFailureAt], 'what the third carries')
      expectEqual(third.redelivered, true, 'redelivered flag of the third')
      expectEqual(await third.accept(), 'settled', 'result of the accept')
    },
  },
  {
    title: 'a return with a delay is not delivered before the delay is over',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'later')])
      const first = await receiver.nth(1)
      const returnedAt = performance.now()
      const returned = first.returnToQueue({ delayMs: 1500 })
      const second = await receiver.nth(2)
      // Timers of Node may fire up to a millisecond early. The delay is long, so that a busy process still notices what
      // comes at once.
      expectThat(
        performance.now() - returnedAt >= 1498,
        'expected the message not before its delay of 1500 ms was over',
      )
      expectEqual(await returned, 'settled', 'result of the return')
      await second.accept()
    },
  },
])
