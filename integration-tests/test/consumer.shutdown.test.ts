import { expect, it } from '@jest/globals'
import { reject, type Delivery, type PublishOutcome, type SettlementResult } from '@litebus/core'
import { expectRedelivered, expectSound, untilHeld } from '../consumer/expect-stop.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { eventually } from '../services/index.ts'
import { withDeliveries, withPublishes } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'

const lostConfirm: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'TIMEOUT', code: 'PUBLISH_TIMEOUT' },
}

await describeTransports('stopping a consumer', ({ withPath }) => {
  it('that is idle is graceful, and leaves to the next one what comes afterwards', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path)
      await subject.consumer.start()
      const report = await subject.consumer.stop({ budgetMs: 10_000 })
      expect(report).toMatchObject({ outcome: 'graceful', graceful: true, unsettled: 0, unresolved: [] })
      expectSound(report, 10_000)
      await subject.order('a')
      await expectRedelivered(path, subject, ['a'])
      expect(subject.consumer.counts().deliveries).toBe(0)
    }))

  it('that is busy lets its handler finish and settle, and takes nothing more', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      const signals: AbortSignal[] = []
      const subject = await openConsumer(path, {
        handle: (_order, { stopping, signal }) => {
          signals.push(stopping, signal)
          return end
        },
      })
      await subject.order('a')
      await subject.consumer.start()
      await untilHeld(subject, 1)
      const stopped = subject.consumer.stop({ budgetMs: 10_000 })
      await subject.order('b')
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
      resolve(undefined)
      const report = await stopped
      expect(report).toMatchObject({
        outcome: 'graceful',
        unsettled: 0,
        unresolved: [],
        settlements: { deliveries: 1, acked: 1, inFlight: 0 },
      })
      expectSound(report, 10_000)
      await expectRedelivered(path, subject, ['b'])
    }))

  it('finishes what was pushed ahead while there is time, or gives it back, and loses none of it', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      const handled: string[] = []
      const subject = await openConsumer(path, {
        handle: ({ id }) => {
          handled.push(id)
          return end
        },
        prefetch: 10,
      })
      const ids = ['a', 'b', 'c', 'd', 'e']
      for (const id of ids) await subject.order(id)
      await subject.consumer.start()
      await untilHeld(subject, 1)
      const stopped = subject.consumer.stop({ budgetMs: 10_000 })
      resolve(undefined)
      const report = await stopped
      expect(report).toMatchObject({ outcome: 'graceful', unsettled: 0, unresolved: [] })
      expect(report.settlements).toMatchObject({ deliveries: handled.length, acked: handled.length })
      expectSound(report, 10_000)
      await expectRedelivered(
        path,
        subject,
        ids.filter((id) => !handled.includes(id)),
      )
    }))

  it('gives back what was pushed ahead behind a handler that does not end, unhandled', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      const handled: string[] = []
      const subject = await openConsumer(path, {
        handle: ({ id }) => {
          handled.push(id)
          return end
        },
        prefetch: 10,
      })
      const ids = ['a', 'b', 'c', 'd', 'e']
      for (const id of ids) await subject.order(id)
      await subject.consumer.start()
      await untilHeld(subject, 1)
      const report = await subject.consumer.stop({ budgetMs: 500, graceMs: 100 })
      expect(report).toMatchObject({ outcome: 'incomplete', unsettled: 1, unresolved: handled })
      expectSound(report, 500)
      expect(handled).toHaveLength(1)
      await expectRedelivered(path, subject, ids)
      resolve(undefined)
    }))

  it('tells a handler that does not end, takes its end for no failure, and reports it as forced', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, {
        handle: (_order, { signal }) =>
          new Promise<undefined>((_resolve, refuse) => {
            signal.addEventListener('abort', () => {
              refuse(new Error('told to end'))
            })
          }),
      })
      await subject.order('a')
      await subject.consumer.start()
      await untilHeld(subject, 1)
      const report = await subject.consumer.stop({ budgetMs: 10_000, graceMs: 200 })
      expect(report).toMatchObject({
        outcome: 'forced',
        graceful: false,
        unsettled: 0,
        unresolved: [],
        settlements: { deliveries: 1, returned: 1, inFlight: 0 },
      })
      expectSound(report, 10_000)
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
      await expectRedelivered(path, subject, ['a'])
    }))

  it('leaves a stuck handler behind at the deadline, revokes its authority, and names what is unresolved', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      const late: Promise<SettlementResult>[] = []
      const subject = await openConsumer(path, {
        handle: () => end,
        wrap: (transport) =>
          withDeliveries(transport, (delivery): Delivery => ({
            ...delivery,
            accept() {
              const result = delivery.accept()
              late.push(result)
              return result
            },
          })),
      })
      await subject.order('a')
      await subject.consumer.start()
      await untilHeld(subject, 1)
      const report = await subject.consumer.stop({ budgetMs: 500, graceMs: 100 })
      expect(report).toMatchObject({
        outcome: 'incomplete',
        unsettled: 1,
        unresolved: ['a'],
        settlements: { deliveries: 1, inFlight: 1 },
      })
      expectSound(report, 500)
      expect(await subject.consumer.stop({ budgetMs: 1 })).toBe(report)
      // The handler ends after all: what it wants to settle reaches the broker no more.
      resolve(undefined)
      await eventually(
        () => {
          expect(subject.consumer.counts()).toMatchObject({ acked: 0, inFlight: 0 })
        },
        { expectation: 'the late handler to end' },
      )
      expect(await Promise.all(late)).not.toContain('settled')
      await expectRedelivered(path, subject, ['a'])
    }))

  it('finishes a handoff whose copy was confirmed in time', () =>
    withPath(async (path) => {
      const { promise: confirm, resolve } = Promise.withResolvers<undefined>()
      let published = 0
      const subject = await openConsumer(path, {
        handle: () => reject({ code: 'NO' }),
        wrap: (transport) =>
          withPublishes(transport, (publish) => async (messages) => {
            const outcomes = await publish(messages)
            published += 1
            await confirm
            return outcomes
          }),
      })
      await subject.order('a')
      await subject.consumer.start()
      await eventually(
        () => {
          expect(published).toBe(1)
        },
        { expectation: 'a copy without a confirm' },
      )
      const stopped = subject.consumer.stop({ budgetMs: 10_000 })
      resolve(undefined)
      const report = await stopped
      expect(report).toMatchObject({
        outcome: 'graceful',
        unsettled: 0,
        settlements: { deliveries: 1, acked_dead_letter: 1, inFlight: 0 },
      })
      expectSound(report, 10_000)
      expect(published).toBe(1)
      await expectRedelivered(path, subject, [])
      expect(await path.fixture.count(subject.dead.source)).toBe(1)
    }))

  it('leaves the original of a handoff that may have been taken to redelivery', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, {
        handle: () => reject({ code: 'NO' }),
        wrap: (transport) =>
          withPublishes(transport, (publish) => async (messages) => {
            await publish(messages)
            return [lostConfirm]
          }),
      })
      await subject.order('a')
      await subject.consumer.start()
      await eventually(
        () => {
          expect(subject.consumer.pausedBy).toEqual(['handoff'])
        },
        { expectation: 'intake to stand still' },
      )
      const report = await subject.consumer.stop({ budgetMs: 3000, graceMs: 300 })
      expect(report).toMatchObject({
        outcome: 'incomplete',
        unsettled: 1,
        unresolved: ['a'],
        settlements: { deliveries: 1, unresolved: 1, acked_dead_letter: 0, returned: 0, inFlight: 0 },
      })
      expectSound(report, 3000)
      expect(await path.fixture.count(subject.dead.source)).toBeGreaterThanOrEqual(1)
      await expectRedelivered(path, subject, ['a'])
    }))
})
