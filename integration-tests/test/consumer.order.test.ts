import { expect, it } from '@jest/globals'
import { retry, type OutboundMessage } from '@litebus/core'
import { expectTerminals } from '../consumer/expect-terminals.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { withDeliveries } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, orderBody } from '../transports/message-path.ts'
import { textHeaders } from '../transports/read-all.ts'

const ids = Array.from({ length: 12 }, (_, index) => `order-${String(index)}`)
const attempts = 3

await describeTransports('a consumer that preserves order', ({ profile, withPath }) => {
  it('lets nothing overtake what fails, with and without keys, and counts its attempts', () =>
    withPath(async (path) => {
      /** What each belongs to: a partition where there are any, else what has the same key, or none. */
      const lanes = new Map<string, string>()
      const runs: { readonly id: string; readonly attempt: number }[] = []
      const subject = await openConsumer(path, {
        source: 'ordered',
        allowLossyLimit: true,
        concurrency: profile.kinds.ordered?.pausable === true ? 8 : 1,
        retry: {
          mode: 'inline',
          ordering: 'preserve',
          destinationOrdered: true,
          maxAttempts: attempts,
          backoff: { initialDelayMs: 20, maxDelayMs: 40 },
        },
        wrap: (transport) =>
          withDeliveries(transport, (delivery) => {
            const { message, partition } = delivery
            const key = textHeaders(message)['litebus-ordering-key']
            lanes.set(message.messageId ?? '', partition ?? key ?? '')
            return delivery
          }),
        handle: ({ id }, { attempt }) => {
          runs.push({ id, attempt })
          const index = ids.indexOf(id)
          // One of three succeeds at its last attempt, one of three never does, and one at once.
          if (index % 3 === 2 || (index % 3 === 0 && attempt === attempts)) return undefined
          return retry({ code: 'LATER' })
        },
      })
      // One by one: a batch keeps the order of each key only.
      for (const [index, id] of ids.entries()) {
        const key = index % 2 === 0 ? undefined : `key-${String(index % 4)}`
        const message: OutboundMessage = {
          destination: subject.target.destination,
          messageId: id,
          body: orderBody(id),
          headers: key === undefined ? contractHeaders : { ...contractHeaders, 'litebus-ordering-key': key },
          ...(key === undefined ? {} : { orderingKey: key }),
        }
        expect(await subject.transport.publisher.publish([message])).toEqual([{ status: 'confirmed' }])
      }
      await subject.consumer.start()
      await expectTerminals(path, subject, { acked: 8, acked_dead_letter: 4 })
      const expectedRuns = (id: string): unknown[] =>
        ids.indexOf(id) % 3 === 2
          ? [{ id, attempt: 1 }]
          : Array.from({ length: attempts }, (_, index) => ({ id, attempt: index + 1 }))
      for (const lane of new Set(lanes.values())) {
        const inLane = ({ id }: { readonly id: string }): boolean => lanes.get(id) === lane
        const inOrder = ids.filter((id) => inLane({ id }))
        expect(runs.filter(inLane)).toEqual(inOrder.flatMap(expectedRuns))
      }
      expect(await path.fixture.count(subject.dead.source)).toBe(4)
    }))
})
