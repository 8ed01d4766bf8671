import { concern, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual } from '../support/expect.ts'
import { message } from '../support/messages.ts'

/** What is too large or cannot be carried is refused here, and harms nothing else. */
export const oversizeCases: readonly TransportCase[] = concern('oversize', [
  {
    title: 'a message over the declared size is rejected and the others of its batch are confirmed',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const { maxMessageBytes } = transport.capabilitiesOf(target.destination)
      const outcomes = await transport.publisher.publish([
        message(target, 'before'),
        message(target, 'huge', { body: new Uint8Array(maxMessageBytes + 1) }),
        message(target, 'after'),
      ])
      expectEqual(
        outcomes.map(({ status }) => status),
        ['confirmed', 'rejected', 'confirmed'],
        'outcomes',
      )
      await expectCount(fixture, target.source, 2)
    },
  },
  {
    title: 'a header that cannot be carried is rejected and the others of its batch are confirmed',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const outcomes = await transport.publisher.publish([
        message(target, 'before'),
        message(target, 'named', { headers: { ['n'.repeat(300)]: 'value' } }),
        message(target, 'after'),
      ])
      expectEqual(
        outcomes.map(({ status }) => status),
        ['confirmed', 'rejected', 'confirmed'],
        'outcomes',
      )
      await expectCount(fixture, target.source, 2)
    },
  },
])
