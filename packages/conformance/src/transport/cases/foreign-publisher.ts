import type { HeaderValue } from '@litebus/core'
import { concern, type TransportCase } from '../support/define.ts'
import { expectEqual } from '../support/expect.ts'
import { bytes } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

const foreignHeaders: Readonly<Record<string, HeaderValue>> = {
  text: 'plain',
  int: 42,
  long: 2 ** 40,
  negative: -7,
  double: 0.5,
  yes: true,
  nothing: null,
  raw: Uint8Array.of(0, 255, 128),
  when: new Date('2026-01-02T03:04:05Z'),
  list: ['a', 1, [false]],
  table: { inner: { deep: 'value' }, count: 3 },
}

/** Messages of publishers that are not this library. */
export const foreignCases: readonly TransportCase[] = concern('foreign publisher', [
  {
    title: 'headers of every type of the broker arrive with their values',
    needs: { capability: 'foreignPublisher', met: ({ foreignPublisher }) => foreignPublisher },
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      await fixture.publishForeign?.(target, {
        body: bytes('foreign'),
        headers: foreignHeaders,
        messageId: 'f-1',
      })
      const { message: received } = await receiver.nth(1)
      expectEqual({ ...received.headers }, foreignHeaders, 'headers')
      expectEqual(received.messageId, 'f-1', 'message id')
    },
  },
  {
    title: 'a message without id and headers is delivered without a delivery id',
    needs: { capability: 'foreignPublisher', met: ({ foreignPublisher }) => foreignPublisher },
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      await fixture.publishForeign?.(target, { body: bytes('bare'), headers: {} })
      const { message: received, deliveryId } = await receiver.nth(1)
      expectEqual([received.messageId, deliveryId], [undefined, undefined], 'message id and delivery id')
      expectEqual(new TextDecoder().decode(received.body), 'bare', 'body')
    },
  },
])
