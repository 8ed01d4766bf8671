import { openBarrier } from '../support/barrier.ts'
import { concern, type TransportCase } from '../support/define.ts'
import { eventually } from '../support/eventually.ts'
import { expectCount, expectEqual, publishAll } from '../support/expect.ts'
import { message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** A paused subscription hands nothing out and loses nothing. */
export const pauseCases: readonly TransportCase[] = concern('pause and resume', [
  {
    title: 'nothing is handed out while paused, and everything after',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      await publishAll(transport, [message(target, 'before')])
      await receiver.nth(1)
      await receiver.subscription.pause()
      expectEqual(receiver.subscription.state, 'paused', 'state')
      await publishAll(transport, messages(target, 'meanwhile', 20))
      await barrier.pass()
      expectEqual(receiver.ids(), ['before'], 'deliveries while paused')
      await receiver.subscription.resume()
      await receiver.nth(21)
      expectEqual(receiver.subscription.state, 'consuming', 'state')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'what was pushed ahead before the pause is handed out after it, and not during it',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      await publishAll(transport, messages(target, 'ahead', 10))
      const receiver = await receive(transport, target.source, { maxInFlight: 1, prefetch: 10 })
      const first = await receiver.nth(1)
      await receiver.subscription.pause()
      expectEqual(await first.accept(), 'settled', 'result of an accept while paused')
      await barrier.pass()
      expectEqual(receiver.deliveries.length, 1, 'deliveries while paused')
      await receiver.subscription.resume()
      for (let count = 2; count <= 10; count += 1) await (await receiver.nth(count)).accept()
      expectEqual(new Set(receiver.ids()).size, 10, 'different messages received')
    },
  },
  {
    title: 'a pause outlives a reconnect',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const barrier = await openBarrier(fixture, scope, await fixture.createDestination('plain'))
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      await receiver.subscription.pause()
      await fixture.disrupt.cutConnections()
      await barrier.pass()
      await eventually(
        'the message to be published',
        () => publishOnce(transport, message(target, 'waiting')),
        {
          until: (status) => status === 'confirmed',
        },
      )
      await barrier.pass()
      expectEqual(receiver.ids(), [], 'deliveries while paused')
      await receiver.subscription.resume()
      await receiver.nth(1)
    },
  },
  {
    title: 'pausing and resuming many times over loses and repeats nothing',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 2, handle: accepting })
      for (let round = 0; round < 10; round += 1) {
        const turns = [receiver.subscription.pause(), receiver.subscription.resume()]
        await publishAll(transport, messages(target, `round-${String(round)}`, 5))
        await Promise.all(turns)
      }
      await receiver.nth(50)
      await expectCount(fixture, target.source, 0)
      expectEqual(new Set(receiver.ids()).size, 50, 'different messages received')
    },
  },
])

async function publishOnce(
  transport: ReturnType<Parameters<typeof openBarrier>[0]['connect']>,
  outbound: ReturnType<typeof message>,
): Promise<string | undefined> {
  const [outcome] = await transport.publisher.publish([outbound])
  return outcome?.status
}
