import { concern, type TransportCase } from '../support/define.ts'
import { expectRejection, publishAll } from '../support/expect.ts'
import { message } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** What is missing or closed is said at once. */
export const refusalCases: readonly TransportCase[] = concern('missing and closed', [
  {
    title: 'subscribing to a source that does not exist rejects, and the transport goes on',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await expectRejection(receive(transport, 'nobody-declared-this'), 'TOPOLOGY_MISMATCH')
      const receiver = await receive(transport, target.source, { handle: accepting })
      await publishAll(transport, [message(target, 'still')])
      await receiver.nth(1)
    },
  },
  {
    title: 'probing a destination that does not exist rejects, and the transport goes on',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await expectRejection(transport.probe('nobody-declared-this'), 'TOPOLOGY_MISMATCH')
      await publishAll(transport, [message(target, 'still')])
    },
  },
  {
    title: 'a closed transport refuses to subscribe and to be probed',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await transport.close()
      await expectRejection(receive(transport, target.source), 'TRANSPORT_CLOSED')
      await expectRejection(transport.probe(), 'TRANSPORT_CLOSED')
    },
  },
])
