import { openBarrier } from '../support/barrier.ts'
import { concern, needsLog, needsPerMessageAck, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual, publishAll } from '../support/expect.ts'
import { message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** Stopping waits for what was handed out, gives back the rest, and says what was left. */
export const shutdownCases: readonly TransportCase[] = concern('shutdown with work in flight', [
  {
    title: 'what is settled within the budget is settled, and nothing is handed out any more',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 2 })
      await publishAll(transport, messages(target, 'working', 5))
      await receiver.nth(2)
      const stopping = receiver.subscription.stop({ budgetMs: 20_000 })
      await barrier.pass()
      for (const delivery of receiver.deliveries)
        expectEqual(await delivery.accept(), 'settled', 'result of an accept during the stop')
      expectEqual(await stopping, { unsettled: 0 }, 'report')
      expectEqual(receiver.subscription.state, 'stopped', 'state')
      await expectCount(fixture, target.source, 3)
      expectEqual(receiver.deliveries.length, 2, 'deliveries')
    },
  },
  {
    title: 'what was pushed ahead and never handed out goes back and reaches another consumer',
    needs: needsPerMessageAck,
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, messages(target, 'ahead', 10))
      const receiver = await receive(transport, target.source, { maxInFlight: 1, prefetch: 10 })
      const first = await receiver.nth(1)
      const stopping = receiver.subscription.stop({ budgetMs: 20_000 })
      const other = await receive(scope.use(fixture.connect()), target.source, { handle: accepting })
      await other.nth(9)
      expectEqual(await first.accept(), 'settled', 'result of the accept')
      expectEqual(await stopping, { unsettled: 0 }, 'report')
      expectEqual(new Set(other.ids()).size, 9, 'different messages received by the other consumer')
    },
  },
  {
    title: 'what was never handed out reaches another consumer once what was is settled, and not before',
    needs: needsLog,
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      await publishAll(transport, messages(target, 'ahead', 10))
      const receiver = await receive(transport, target.source, { maxInFlight: 1, prefetch: 10 })
      const first = await receiver.nth(1)
      const stopping = receiver.subscription.stop({ budgetMs: 20_000 })
      await barrier.pass()
      expectEqual(await first.accept(), 'settled', 'result of the accept')
      expectEqual(await stopping, { unsettled: 0 }, 'report')
      const other = await receive(scope.use(fixture.connect()), target.source, { handle: accepting })
      await other.nth(9)
      await expectCount(fixture, target.source, 0)
      expectEqual(new Set([...receiver.ids(), ...other.ids()]).size, 10, 'different messages received')
      expectEqual([receiver.ids().length, other.ids().length], [1, 9], 'deliveries')
    },
  },
  {
    title: 'what is not settled within the budget is reported, revoked and delivered again',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, messages(target, 'stuck', 2))
      await receiver.nth(2)
      const report = await receiver.subscription.stop({ budgetMs: 50 })
      expectEqual(report, { unsettled: 2 }, 'report')
      for (const delivery of receiver.deliveries)
        expectEqual(await delivery.accept(), 'revoked', 'result of an accept after the stop')
      const other = await receive(transport, target.source, { handle: accepting })
      await other.nth(2)
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'stopping again with less time brings the end forward, and with more does not put it off',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, messages(target, 'stuck', 1))
      await receiver.nth(1)
      const stopping = receiver.subscription.stop({ budgetMs: 60_000 })
      const brought = receiver.subscription.stop({ budgetMs: 50 })
      const putOff = receiver.subscription.stop({ budgetMs: 60_000 })
      expectEqual(await Promise.all([stopping, brought, putOff]), Array(3).fill({ unsettled: 1 }), 'reports')
    },
  },
  {
    title: 'stopping twice gives the same report',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'stuck')])
      await receiver.nth(1)
      const reports = await Promise.all([
        receiver.subscription.stop({ budgetMs: 20 }),
        receiver.subscription.stop({ budgetMs: 20 }),
      ])
      const third = await receiver.subscription.stop({ budgetMs: 0 })
      expectEqual([...reports, third], [{ unsettled: 1 }, { unsettled: 1 }, { unsettled: 1 }], 'reports')
    },
  },
  {
    title: 'a return that is being held does not hold up the stop, and its message is not lost',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'held')])
      const returning = (await receiver.nth(1)).returnToQueue({ delayMs: 500 })
      const report = await receiver.subscription.stop({ budgetMs: 20_000 })
      expectEqual(report, { unsettled: 0 }, 'report')
      expectEqual(await returning, 'settled', 'result of the return')
      const other = await receive(transport, target.source, { handle: accepting })
      await other.nth(1)
    },
  },
  {
    title: 'closing the transport stops its subscriptions, twice without harm',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'open')])
      const delivery = await receiver.nth(1)
      await Promise.all([transport.close(), transport.close()])
      await transport.close()
      expectEqual(receiver.subscription.state, 'stopped', 'state')
      expectEqual(await delivery.accept(), 'revoked', 'result of an accept after the close')
      await expectCount(fixture, target.source, 1)
    },
  },
])
