import { concern, type TransportCase, needsKind } from '../support/define.ts'
import { expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { inOrder, message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** Order of a stream, and of an ordering key among publishes. */
export const orderCases: readonly TransportCase[] = concern('ordering', [
  {
    title: 'an ordered destination delivers in the order of the publishes',
    needs: needsKind('ordered'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('ordered')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 1, handle: accepting })
      const batch = messages(target, 'ordered', 200)
      await publishAll(transport, inOrder(batch))
      await receiver.nth(200)
      expectEqual(
        receiver.ids(),
        batch.map(({ messageId }) => messageId),
        'order of the deliveries',
      )
    },
  },
  {
    title: 'a message that was given back comes before those behind it',
    needs: needsKind('ordered'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('ordered')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, inOrder(messages(target, 'back', 4)))
      let returned = false
      const receiver = await receive(transport, target.source, {
        maxInFlight: 1,
        handle: (delivery) => {
          if (returned || delivery.message.messageId !== 'back-1') return void delivery.accept()
          returned = true
          void delivery.returnToQueue()
        },
      })
      await receiver.nth(5)
      expectEqual(receiver.ids(), ['back-0', 'back-1', 'back-1', 'back-2', 'back-3'], 'deliveries')
    },
  },
  {
    title: 'a message that was given back with a delay holds up those behind it',
    needs: needsKind('ordered'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('ordered')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, inOrder(messages(target, 'later', 4)))
      let returned = false
      const receiver = await receive(transport, target.source, {
        maxInFlight: 1,
        handle: (delivery) => {
          if (returned || delivery.message.messageId !== 'later-1') return void delivery.accept()
          returned = true
          void delivery.returnToQueue({ delayMs: 200 })
        },
      })
      await receiver.nth(5)
      expectEqual(receiver.ids(), ['later-0', 'later-1', 'later-1', 'later-2', 'later-3'], 'deliveries')
    },
  },
  {
    title: 'a reconnect repeats a message at most, and never brings an earlier one after a later one',
    needs: needsKind('ordered'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('ordered')
      const transport = scope.use(fixture.connect())
      const batch = messages(target, 'cut', 60)
      await publishAll(transport, inOrder(batch))
      const accepted: string[] = []
      const receiver = await receive(transport, target.source, {
        maxInFlight: 1,
        handle: (delivery) => {
          void delivery.accept().then((result) => {
            if (result === 'settled') accepted.push(delivery.message.messageId ?? '')
          })
        },
      })
      await receiver.nth(20)
      await fixture.disrupt.cutConnections()
      await receiver.nth(60)
      const firsts = [...new Set(receiver.ids())]
      expectEqual(
        firsts,
        batch.slice(0, firsts.length).map(({ messageId }) => messageId),
        'order of first deliveries',
      )
    },
  },
  {
    title: 'what follows a rejected message of its key is not sent, and other keys go on',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const { maxMessageBytes } = transport.capabilitiesOf(target.destination)
      const outcomes = await transport.publisher.publish([
        message(target, 'a-1', { orderingKey: 'a' }),
        message(target, 'a-2', { orderingKey: 'a', body: new Uint8Array(maxMessageBytes + 1) }),
        message(target, 'b-1', { orderingKey: 'b' }),
        message(target, 'a-3', { orderingKey: 'a' }),
        message(target, 'b-2', { orderingKey: 'b' }),
        message(target, 'none'),
      ])
      expectEqual(
        outcomes.map(({ status }) => status),
        ['confirmed', 'rejected', 'confirmed', 'unavailable', 'confirmed', 'confirmed'],
        'outcomes',
      )
      const receiver = await receive(transport, target.source, { handle: accepting })
      await receiver.nth(4)
      expectThat(!receiver.ids().includes('a-3'), 'expected a-3 not to be sent before a-2 is settled')
    },
  },
])
