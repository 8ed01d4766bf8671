import { concern, type TransportCase } from '../support/define.ts'
import { expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { bytes, message, webhookBody } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'
import type { TransportFixture } from '../fixture.ts'
import type { Scope } from '../../frame/scope.ts'

async function expectSameBody(fixture: TransportFixture, scope: Scope, body: Uint8Array): Promise<void> {
  const target = await fixture.createDestination('plain')
  const transport = scope.use(fixture.connect())
  const receiver = await receive(transport, target.source, { handle: accepting })
  await publishAll(transport, [message(target, 'body', { body })])
  const { message: received } = await receiver.nth(1)
  expectThat(
    Buffer.compare(received.body, body) === 0,
    `expected the ${String(body.byteLength)} bytes that were published, found ${String(received.body.byteLength)} others`,
  )
}

/** Bodies, headers and ids arrive as they were published. */
export const roundTripCases: readonly TransportCase[] = concern('round trip', [
  {
    title: 'a webhook body with text of several scripts arrives byte for byte',
    run: (fixture, scope) => expectSameBody(fixture, scope, webhookBody(60)),
  },
  {
    title: 'an empty body arrives empty',
    run: (fixture, scope) => expectSameBody(fixture, scope, new Uint8Array()),
  },
  {
    title: 'all 256 byte values arrive, in every order of two',
    run: (fixture, scope) =>
      expectSameBody(
        fixture,
        scope,
        Uint8Array.from(
          { length: 2 * 65_536 },
          (_, index) => (index % 2 === 0 ? index >> 1 : index >> 9) & 255,
        ),
      ),
  },
  {
    title: 'a body of one mebibyte, or of the declared maximum, arrives byte for byte',
    run: (fixture, scope) => {
      const body = new Uint8Array(1024 * 1024)
      for (let index = 0; index < body.length; index += 1) body[index] = (index * 31) & 255
      return expectSameBody(fixture, scope, body)
    },
  },
  {
    title: 'the id, the content type and every header arrive unchanged',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { handle: accepting })
      const headers: Record<string, string> = {
        'litebus-message-id': 'id-1',
        'tenant-id': 'Zürich-東京',
        empty: '',
        long: 'x'.repeat(8192),
        'msg.retry-attempt': '3',
      }
      for (let index = 0; index < 30; index += 1)
        headers[`header-${String(index)}`] = `value ${String(index)}`
      await publishAll(transport, [
        message(target, 'id-1', { headers, contentType: 'application/cloudevents+json' }),
      ])
      const { message: received, deliveryId } = await receiver.nth(1)
      expectEqual(received.messageId, 'id-1', 'message id')
      expectEqual(received.contentType, 'application/cloudevents+json', 'content type')
      expectEqual(received.destination, target.source, 'destination of the delivery')
      expectThat(deliveryId !== undefined, 'expected a delivery id for a message with an id')
      const arrived = Object.entries(headers).map(([name]) => [name, textOf(received.headers[name])])
      expectEqual(Object.fromEntries(arrived), headers, 'headers')
    },
  },
  {
    title: 'a buffer may be reused once its publish is answered',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const body = bytes('before')
      await publishAll(transport, [message(target, 'reused', { body })])
      body.fill(0)
      const receiver = await receive(transport, target.source, { handle: accepting })
      const { message: received } = await receiver.nth(1)
      expectEqual(new TextDecoder().decode(received.body), 'before', 'body')
    },
  },
])

/** Brokers without text headers carry them as bytes. */
function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value
}
