import type { Delivery, SettlementResult } from '@litebus/core'
import { concern, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual, publishAll } from '../support/expect.ts'
import { message, messages } from '../support/messages.ts'
import { receive } from '../support/receiver.ts'

const settlements: Readonly<Record<string, (delivery: Delivery) => Promise<SettlementResult>>> = {
  accept: (delivery) => delivery.accept(),
  returnToQueue: (delivery) => delivery.returnToQueue(),
  discard: (delivery) => delivery.discard({ reason: 'TEST' }),
}

/** What was delivered on a connection that is gone can no longer be settled. */
export const staleSettleCases: readonly TransportCase[] = concern('stale settle', [
  {
    title: 'a delivery of a lost connection is revoked, comes again and is settled there',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, messages(target, 'stale', 3))
      await receiver.nth(3)
      const stale = receiver.deliveries.slice(0, 3)
      await fixture.disrupt.cutConnections()
      await receiver.nth(6)
      for (const [name, settle] of Object.entries(settlements)) {
        for (const delivery of stale)
          expectEqual(await settle(delivery), 'revoked', `result of a late ${name}`)
      }
      // Had one of them reached the broker, it would have closed the channel, and these would be revoked too.
      for (const delivery of receiver.deliveries.slice(3, 6))
        expectEqual(await delivery.accept(), 'settled', 'result of the accept of the second delivery')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'a return that is being held when the connection is lost is answered revoked',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'held')])
      const delivery = await receiver.nth(1)
      const returning = delivery.returnToQueue({ delayMs: 60_000 })
      await fixture.disrupt.cutConnections()
      const result = await returning
      // A broker that delays returns itself has it already; everything else was held here, and is revoked.
      if (result === 'settled') return
      expectEqual(result, 'revoked', 'result of the held return')
      expectEqual(await (await receiver.nth(2)).accept(), 'settled', 'result of the second accept')
    },
  },
  {
    title: 'a delivery that was not settled when its subscription stopped is revoked',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'late')])
      const delivery = await receiver.nth(1)
      await receiver.subscription.stop({ budgetMs: 0 })
      expectEqual(await delivery.accept(), 'revoked', 'result of the accept')
      await expectCount(fixture, target.source, 1)
    },
  },
])
