import type { Delivery } from '@litebus/core'
import { openBarrier } from '../support/barrier.ts'
import { concern, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { messages } from '../support/messages.ts'
import { receive } from '../support/receiver.ts'

/** The cap on deliveries in flight is the library's own. */
export const inFlightCases: readonly TransportCase[] = concern('in-flight cap', [
  {
    title: 'no more than maxInFlight are handed out without settlement, whatever the prefetch',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      await publishAll(transport, messages(target, 'capped', 30))
      const held: Delivery[] = []
      let most = 0
      const receiver = await receive(transport, target.source, {
        maxInFlight: 3,
        prefetch: 20,
        handle: (delivery) => {
          held.push(delivery)
          most = Math.max(most, held.length)
        },
      })
      await receiver.nth(3)
      await barrier.pass()
      expectEqual(receiver.deliveries.length, 3, 'deliveries without a settlement')
      for (let settled = 0; settled < 30; settled += 1) {
        await receiver.nth(settled + 1)
        await held.shift()?.accept()
      }
      expectThat(most <= 3, `expected at most 3 at a time, found ${String(most)}`)
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'each kind of settlement makes room for the next delivery',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, messages(target, 'room', 4))
      const receiver = await receive(transport, target.source, { maxInFlight: 1 })
      await (await receiver.nth(1)).accept()
      await (await receiver.nth(2)).discard({ reason: 'TEST' })
      await (await receiver.nth(3)).returnToQueue()
      await receiver.nth(4)
    },
  },
  {
    title: 'a receiver that throws costs neither the message nor the subscription',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      let thrown = false
      const receiver = await receive(transport, target.source, {
        maxInFlight: 1,
        handle: (delivery) => {
          if (thrown) return void delivery.accept()
          thrown = true
          throw new Error('a receiver must not throw, and does')
        },
      })
      await publishAll(transport, messages(target, 'thrown', 2))
      await receiver.nth(3)
      expectEqual(new Set(receiver.ids()).size, 2, 'different messages received')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'a subscription without room for a single delivery is refused',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      let refused = false
      try {
        await receive(transport, target.source, { maxInFlight: 0 })
      } catch {
        refused = true
      }
      expectThat(refused, 'expected maxInFlight 0 to be refused')
    },
  },
])
