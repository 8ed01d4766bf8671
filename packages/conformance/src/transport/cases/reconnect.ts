import type { SubscriptionState } from '@litebus/core'
import { concern, type TransportCase } from '../support/define.ts'
import { eventually } from '../support/eventually.ts'
import { expectCount, expectEqual, expectThat, publishAll } from '../support/expect.ts'
import { message, messages } from '../support/messages.ts'
import { accepting, receive } from '../support/receiver.ts'

/** Lost connections come back by themselves. */
export const reconnectCases: readonly TransportCase[] = concern('reconnect', [
  {
    title: 'an idle subscription consumes again after each of three cuts, and says so',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const states: SubscriptionState[] = []
      const receiver = await receive(transport, target.source, {
        handle: accepting,
        onStateChange: (state) => states.push(state),
      })
      for (let cut = 1; cut <= 3; cut += 1) {
        await fixture.disrupt.cutConnections()
        await eventually(
          'a publish to be confirmed again',
          async () => (await transport.publisher.publish([message(target, `cut-${String(cut)}`)]))[0]?.status,
          { until: (status) => status === 'confirmed' },
        )
        await eventually('deliveries', () => receiver.ids().includes(`cut-${String(cut)}`), {
          until: (arrived) => arrived,
        })
      }
      expectThat(states.includes('recovering'), `expected the state recovering, found ${states.join(', ')}`)
      expectEqual(receiver.subscription.state, 'consuming', 'state')
    },
  },
  {
    title: 'cuts while publishing leave every slot with an outcome and lose nothing that was confirmed',
    timeoutMs: 60_000,
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      const confirmed = new Set<string>()
      const publishing = new AbortController()
      scope.defer(() => {
        publishing.abort()
      })
      const work = (async () => {
        for (let round = 0; !publishing.signal.aborted; round += 1) {
          const batch = messages(target, `round-${String(round)}`, 50)
          const outcomes = await transport.publisher.publish(batch)
          expectEqual(outcomes.length, batch.length, 'number of outcomes')
          batch.forEach(({ messageId }, slot) => {
            if (outcomes[slot]?.status === 'confirmed') confirmed.add(messageId)
            expectThat(
              outcomes[slot]?.status !== 'rejected',
              'expected no rejection because of a lost connection',
            )
          })
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      for (const before of [0, 1, 2]) {
        const seen = confirmed.size
        await eventually(`confirmed messages after ${String(before)} cuts`, () => confirmed.size, {
          until: (size) => size >= seen + 200,
        })
        await fixture.disrupt.cutConnections()
      }
      const seen = confirmed.size
      await eventually('confirmed messages after the last cut', () => confirmed.size, {
        until: (size) => size >= seen + 200,
      })
      publishing.abort()
      await work
      const received = new Set<string>()
      await receive(transport, target.source, {
        maxInFlight: 100,
        handle: (delivery) => {
          received.add(delivery.message.messageId ?? '')
          void delivery.accept()
        },
      })
      await eventually(
        'confirmed messages that did not arrive',
        () => [...confirmed].filter((id) => !received.has(id)).length,
        { until: (lost) => lost === 0 },
      )
    },
  },
  {
    title: 'a cut while deliveries are held brings them again, and nothing that was settled',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      let revoked = 0
      const receiver = await receive(transport, target.source, {
        maxInFlight: 6,
        onRevoked: () => {
          revoked += 1
        },
      })
      await publishAll(transport, messages(target, 'held', 10))
      await receiver.nth(6)
      const settled = receiver.deliveries.slice(0, 3)
      for (const delivery of settled) expectEqual(await delivery.accept(), 'settled', 'accept before the cut')
      await receiver.nth(9)
      await expectCount(fixture, target.source, 1)
      const first = receiver.deliveries.length
      await fixture.disrupt.cutConnections()
      await receiver.nth(first + 1)
      expectThat(revoked > 0, 'expected to hear that what was held is revoked, before it came again')
      const done = new Set(settled.map(({ message: { messageId } }) => messageId))
      for (let count = 0; count < 7; count += 1) {
        const delivery = await receiver.nth(first + count + 1)
        expectThat(!done.has(delivery.message.messageId), 'expected nothing again that was settled')
        expectEqual(await delivery.accept(), 'settled', 'accept after the cut')
        done.add(delivery.message.messageId)
      }
      expectEqual(done.size, 10, 'different messages settled')
      await expectCount(fixture, target.source, 0)
    },
  },
  {
    title: 'a probe fails or succeeds with the broker, and succeeds again after a cut',
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const transport = scope.use(fixture.connect())
      await transport.probe(target.destination)
      await transport.probe()
      await fixture.disrupt.cutConnections()
      await eventually(
        'a probe to succeed again',
        () =>
          transport.probe(target.destination).then(
            () => true,
            () => false,
          ),
        { until: (succeeded) => succeeded },
      )
    },
  },
])
