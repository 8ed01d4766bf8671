import type { OutboundMessage, Transport } from '@litebus/core'
import type { Scope } from '../../frame/scope.ts'
import type { TestDestination, TransportFixture } from '../fixture.ts'
import { eventually } from './eventually.ts'
import { message } from './messages.ts'
import { accepting, receive } from './receiver.ts'

/**
 * Proves that the broker had time to deliver, without a guess in milliseconds: messages go through it by another
 * destination, several times in a row.
 */
export interface Barrier {
  /** Resolves after several full trips. */
  pass(): Promise<void>
}

const trips = 5

/** Opens a barrier; create its destination before anything connects. */
export async function openBarrier(
  fixture: TransportFixture,
  scope: Scope,
  target: TestDestination,
): Promise<Barrier> {
  const transport = scope.use(fixture.connect())
  const receiver = await receive(transport, target.source, { handle: accepting })
  let sent = 0
  return {
    async pass() {
      for (let trip = 0; trip < trips; trip += 1) {
        sent += 1
        await timersHadTheirTurn()
        const id = `barrier-${String(sent)}`
        // A cut may hit the barrier too: it sends until it is confirmed, and takes its message however often it comes.
        await eventually(
          'a message of the barrier to be confirmed',
          () => send(transport, message(target, id)),
          {
            until: (status) => status === 'confirmed',
          },
        )
        await eventually('a message of the barrier to arrive', () => receiver.ids().includes(id), {
          until: (arrived) => arrived,
        })
      }
    },
  }
}

async function send(transport: Transport, outbound: OutboundMessage): Promise<string | undefined> {
  const [outcome] = await transport.publisher.publish([outbound])
  return outcome?.status
}

/** A transport in memory delivers without a turn of the event loop; what it puts off must have had one. */
function timersHadTheirTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2)
  })
}
