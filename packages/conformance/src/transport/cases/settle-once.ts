import type { Delivery, SettlementResult } from '@litebus/core'
import type { Scope } from '../../frame/scope.ts'
import type { TransportFixture } from '../fixture.ts'
import { concern, type TransportCase, needsKind } from '../support/define.ts'
import { expectCount, expectEqual, publishAll } from '../support/expect.ts'
import { inOrder, message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

const settlements: Readonly<Record<string, (delivery: Delivery) => Promise<SettlementResult>>> = {
  accept: (delivery) => delivery.accept(),
  returnToQueue: (delivery) => delivery.returnToQueue(),
  discard: (delivery) => delivery.discard({ reason: 'TEST' }),
}

/** Settlement is a one-shot authority. */
export const settleOnceCases: readonly TransportCase[] = concern('settle once', [
  {
    title: 'an accepted message is gone, also after a reconnect',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 1 })
      await publishAll(transport, inOrder(messages(target, 'done', 2)))
      expectEqual(await (await receiver.nth(1)).accept(), 'settled', 'result of the accept')
      // The second is only delivered once the broker has the settlement of the first.
      await receiver.nth(2)
      await fixture.disrupt.cutConnections()
      expectEqual(await (await receiver.nth(3)).accept(), 'settled', 'result of the accept after the cut')
      expectEqual(receiver.ids(), ['done-0', 'done-1', 'done-1'], 'deliveries')
      await expectCount(fixture, target.source, 0)
    },
  },
  ...Object.entries(settlements).flatMap(([first, settleFirst]) =>
    Object.entries(settlements).map(([second, settleSecond]) => ({
      title: `after ${first}, ${second} is answered revoked and changes nothing`,
      async run(fixture: TransportFixture, scope: Scope) {
        const target = await fixture.createDestination('plain')
        const transport = scope.use(fixture.connect())
        const receiver = await receive(transport, target.source)
        await publishAll(transport, [message(target, 'once')])
        const delivery = await receiver.nth(1)
        expectEqual(await settleFirst(delivery), 'settled', `result of ${first}`)
        expectEqual(await settleSecond(delivery), 'revoked', `result of ${second}`)
        if (first === 'returnToQueue')
          expectEqual(await (await receiver.nth(2)).accept(), 'settled', 'accept')
        await publishAll(transport, [message(target, 'next')])
        const next = await receiver.nth(first === 'returnToQueue' ? 3 : 2)
        expectEqual(next.message.messageId, 'next', 'the next delivery')
        expectEqual(await next.accept(), 'settled', 'result of the next accept')
        await expectCount(fixture, target.source, 0)
      },
    })),
  ),
  {
    title: 'of two settlements at the same time exactly one has the authority',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, messages(target, 'race', 5))
      await receiver.nth(5)
      const results = await Promise.all(
        receiver.deliveries
          .slice(0, 5)
          .map((delivery) => Promise.all([delivery.accept(), delivery.discard({ reason: 'TEST' })])),
      )
      expectEqual(
        results.map((pair) => [...pair].sort()),
        results.map(() => ['revoked', 'settled']),
        'results of each pair',
      )
    },
  },
  {
    title: 'accepting later deliveries takes no earlier one with it',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 5 })
      await publishAll(transport, inOrder(messages(target, 'behind', 5)))
      await receiver.nth(5)
      const [earliest, ...later] = receiver.deliveries
      for (const delivery of later) expectEqual(await delivery.accept(), 'settled', 'result of an accept')
      expectEqual(await receiver.subscription.stop({ budgetMs: 0 }), { unsettled: 1 }, 'report')
      const other = await receive(transport, target.source, { handle: accepting })
      const again = await other.nth(1)
      expectEqual(again.message.messageId, earliest?.message.messageId, 'the first delivery after the stop')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'a return that is being held already has the authority',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source)
      await publishAll(transport, [message(target, 'held')])
      const delivery = await receiver.nth(1)
      const returning = delivery.returnToQueue({ delayMs: 300 })
      expectEqual(await delivery.accept(), 'revoked', 'result of the accept')
      expectEqual(await returning, 'settled', 'result of the return')
      await (await receiver.nth(2)).accept()
    },
  },
  {
    title: 'a discarded message is gone from its source',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, { maxInFlight: 1 })
      await publishAll(transport, inOrder(messages(target, 'discarded', 2)))
      expectEqual(await (await receiver.nth(1)).discard({ reason: 'TEST' }), 'settled', 'result')
      await (await receiver.nth(2)).accept()
      expectEqual(receiver.ids(), ['discarded-0', 'discarded-1'], 'deliveries')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'a discarded message is found in the dead-letter place, with its body and id',
    needs: needsKind('deadLetter'),
    async run(fixture, scope) {
      const target = await fixture.createDestination('deadLetter')
      const transport = scope.use(fixture.connect())
      const receiver = await receive(transport, target.source, {
        handle: (delivery) => void delivery.discard({ reason: 'TEST' }),
      })
      await publishAll(transport, [message(target, 'dead')])
      await receiver.nth(1)
      const letters = await receive(transport, target.deadLetterSource ?? '', { handle: accepting })
      const letter = await letters.nth(1)
      expectEqual(letter.message.messageId, 'dead', 'message id')
      expectEqual(new TextDecoder().decode(letter.message.body), 'dead', 'body')
    },
  },
])
