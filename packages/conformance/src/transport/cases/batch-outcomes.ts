import { concern, type TransportCase } from '../support/define.ts'
import { expectCount, expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

const missing = { destination: 'nobody-declared-this', source: 'nobody-declared-this' }

/** Every slot of a batch gets its own outcome. */
export const publishingCases: readonly TransportCase[] = concern('batch outcomes', [
  {
    title: 'an empty batch has no outcomes',
    async run(fixture, scope) {
      await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      expectEqual(await transport.publisher.publish([]), [], 'outcomes')
    },
  },
  {
    title: 'a batch larger than any window or request is confirmed and arrives once each',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const batch = messages(target, 'large', 2500)
      await publishAll(transport, batch)
      const receiver = await receive(transport, target.source, { maxInFlight: 100, handle: accepting })
      await receiver.nth(2500)
      expectEqual(new Set(receiver.ids()).size, 2500, 'different messages received')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'outcomes stand in the order of the messages, each for its own slot',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const outcomes = await transport.publisher.publish([
        message(target, 'first'),
        message(missing, 'lost'),
        message(target, 'third'),
        message(target, 'fourth'),
        message(missing, 'lost too'),
      ])
      expectEqual(
        outcomes.map(({ status }) => status),
        ['confirmed', 'rejected', 'confirmed', 'confirmed', 'rejected'],
        'outcomes',
      )
      const receiver = await receive(transport, target.source, { handle: accepting })
      await receiver.nth(3)
      expectEqual([...receiver.ids()].sort(), ['first', 'fourth', 'third'], 'messages that arrived')
    },
  },
  {
    title: 'concurrent batches are all answered, and everything confirmed arrives',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const batches = Array.from({ length: 20 }, (_, index) => messages(target, `batch-${String(index)}`, 25))
      await Promise.all(batches.map((batch) => publishAll(transport, batch)))
      const receiver = await receive(transport, target.source, { maxInFlight: 50, handle: accepting })
      await receiver.nth(500)
      expectEqual(new Set(receiver.ids()).size, 500, 'different messages received')
    },
  },
  {
    title: 'an aborted signal makes unsent messages unavailable, and they never arrive',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const outcomes = await transport.publisher.publish(messages(target, 'aborted', 3), {
        signal: AbortSignal.abort(),
      })
      expectEqual(
        outcomes.map(({ status }) => status),
        ['unavailable', 'unavailable', 'unavailable'],
        'outcomes',
      )
      await publishAll(transport, [message(target, 'after')])
      const receiver = await receive(transport, target.source, { handle: accepting })
      await receiver.nth(1)
      expectEqual(receiver.ids(), ['after'], 'messages that arrived')
    },
  },
  {
    title: 'a signal aborted on the way answers every slot at once, and what is confirmed arrives',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, [message(target, 'warm')])
      const controller = new AbortController()
      const publishing = transport.publisher.publish(messages(target, 'midway', 2000), {
        signal: controller.signal,
      })
      controller.abort()
      const outcomes = await publishing
      expectEqual(outcomes.length, 2000, 'number of outcomes')
      expectThat(
        outcomes.every(({ status }) => status !== 'rejected'),
        'expected no message to be rejected because its publisher gave up',
      )
      const confirmed = outcomes.filter(({ status }) => status === 'confirmed').length
      const receiver = await receive(transport, target.source, { maxInFlight: 100, handle: accepting })
      await receiver.nth(1 + confirmed)
    },
  },
  {
    title: 'a closed transport answers unavailable and does not reject',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await publishAll(transport, [message(target, 'before')])
      await transport.close()
      const outcomes = await transport.publisher.publish(messages(target, 'closed', 2))
      expectEqual(
        outcomes.map(({ status }) => status),
        ['unavailable', 'unavailable'],
        'outcomes',
      )
    },
  },
])
