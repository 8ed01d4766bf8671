import { concern, type TransportCase, needsKind } from '../support/define.ts'
import { eventually } from '../support/eventually.ts'
import { expectCount, expectEqual, statusesOf } from '../support/expect.ts'
import { message } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

const missing = { destination: 'nobody-declared-this', source: 'nobody-declared-this' }

/** A message that no queue takes is rejected, although the broker may confirm it. */
export const unroutableCases: readonly TransportCase[] = concern('unroutable', [
  {
    title: 'a message to a destination that does not exist is rejected',
    async run(fixture, scope) {
      await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      // Text that is not well-formed comes back as other text, by which a broker's answer may not be matched.
      const outcomes = await transport.publisher.publish([
        message(missing, 'lost'),
        message(missing, 'lost \ud800'),
        message({ ...missing, destination: 'nobody \ud800' }, 'lost, too'),
      ])
      expectEqual(statusesOf(outcomes), ['rejected', 'rejected', 'rejected'], 'outcomes')
    },
  },
  {
    title: 'many unroutable messages among routable ones are told apart one by one',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const batch = Array.from({ length: 600 }, (_, index) =>
        message(index % 3 === 1 ? missing : target, `mixed-${String(index)}`),
      )
      const outcomes = await transport.publisher.publish(batch)
      expectEqual(
        statusesOf(outcomes),
        batch.map(({ destination }) => (destination === missing.destination ? 'rejected' : 'confirmed')),
        'outcomes',
      )
      await expectCount(fixture, target.source, 400)
    },
  },
  {
    title: 'a routing key without a binding is rejected, and one with a binding arrives',
    needs: needsKind('routed'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('routed')
      const transport = scope.use(fixture.connect())
      const outcomes = await transport.publisher.publish([
        message(target, 'stray', { routingKey: target.strayRoutingKey ?? '' }),
        message(target, 'bound'),
        message({ ...missing, routingKey: 'any' }, 'nowhere'),
      ])
      expectEqual(statusesOf(outcomes), ['rejected', 'confirmed', 'rejected'], 'outcomes')
      const receiver = await receive(transport, target.source, { handle: accepting })
      await receiver.nth(1)
      expectEqual(receiver.ids(), ['bound'], 'messages that arrived')
    },
  },
  {
    title: 'two publishes under one id are answered each for itself',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const outcomes = await transport.publisher.publish([
        message(target, 'same'),
        message(missing, 'same'),
        message(target, 'same'),
        message(missing, 'same'),
      ])
      expectEqual(statusesOf(outcomes), ['confirmed', 'rejected', 'confirmed', 'rejected'], 'outcomes')
      await eventually('messages that arrived', () => fixture.count(target.source), {
        until: (found) => found >= 1,
      })
    },
  },
])
