import { expect, it } from '@jest/globals'
import { reject, retry, type PublishOutcome } from '@litebus/core'
import { expectTerminals } from '../consumer/expect-terminals.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { eventually } from '../services/index.ts'
import { withPublishes } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, orderBody } from '../transports/message-path.ts'
import { readAll, textHeaders } from '../transports/read-all.ts'

const lostConfirm: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'TIMEOUT', code: 'PUBLISH_TIMEOUT' },
}

await describeTransports('the settlement of a consumer', ({ profile, withPath }) => {
  it('accepts what was handled', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path)
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 1, acked: 1 })
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
    }))

  it('accepts a retryable failure once its retry copy is confirmed, with the attempt in its headers', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, { handle: () => retry({ code: 'LATER' }) })
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 1, acked_retry: 1 })
      const copies = await readAll(path, subject.again, 1)
      expect(copies.map(({ body }) => Buffer.from(body))).toEqual([Buffer.from(orderBody('a'))])
      expect(copies.map(textHeaders)).toMatchObject([
        { ...contractHeaders, 'msg.retry-attempt': '1', 'msg.failure-code': 'LATER' },
      ])
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
    }))

  it('counts the attempts of copies, and parks the last one', () =>
    withPath(async (path) => {
      const attempts: number[] = []
      const again = await path.fixture.createDestination('plain')
      const subject = await openConsumer(path, {
        source: again,
        retry: { retryDestination: again.destination },
        handle: (_, { attempt }) => {
          attempts.push(attempt)
          return retry({ code: 'LATER' })
        },
      })
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 3, acked_retry: 2, acked_dead_letter: 1 })
      expect(attempts).toEqual([1, 2, 3])
      const [copy] = (await readAll(path, subject.dead, 1)).map(textHeaders)
      expect(copy).toMatchObject({ 'msg.retry-attempt': '3', 'msg.failure-code': 'LATER' })
    }))

  it('parks what is permanent at once, with reserved headers and nothing of the error', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, {
        handle: ({ id }) => {
          if (id === 'thrown') throw Object.assign(new SyntaxError('hunter2'), { secret: 'hunter2' })
          return reject({ code: 'NO_SUCH_CUSTOMER' })
        },
      })
      await subject.put({
        messageId: 'rejected',
        body: orderBody('rejected'),
        headers: { ...contractHeaders, note: 'kept', authorization: 'Bearer hunter2' },
      })
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 1, acked_dead_letter: 1 })
      const [copy] = await readAll(path, subject.dead, 1)
      if (copy === undefined) throw new Error('expected a copy')
      expect(Buffer.from(copy.body)).toEqual(Buffer.from(orderBody('rejected')))
      expect(textHeaders(copy)).toMatchObject({
        ...contractHeaders,
        note: 'kept',
        'msg.failure-category': 'REJECTED',
        'msg.failure-code': 'NO_SUCH_CUSTOMER',
        'msg.origin-destination': subject.target.source,
        'msg.retry-attempt': '1',
      })
      expect(JSON.stringify(textHeaders(copy)) + subject.text()).not.toContain('hunter2')
    }))

  it('never settles the original away while its copy cannot be routed', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, { handle: () => reject({ code: 'NO' }), holdLimitMs: 60_000 })
      await path.fixture.deleteSource(subject.dead.source)
      await subject.order('a')
      await subject.consumer.start()
      await eventually(
        () => {
          expect(subject.consumer.state).toBe('paused')
        },
        { expectation: 'intake to stand still' },
      )
      const report = await subject.consumer.stop({ budgetMs: 5000, graceMs: 500 })
      expect(report.settlements).toMatchObject({
        deliveries: 1,
        acked_dead_letter: 0,
        discarded: 0,
        acked: 0,
      })
      await eventually(
        async () => {
          expect(await path.fixture.count(subject.target.source)).toBe(1)
        },
        { expectation: 'the original to be back' },
      )
    }))

  it('makes the same hop again when its confirm was lost, and accepts the original only then', () =>
    withPath(async (path) => {
      const hops: (string | undefined)[] = []
      const subject = await openConsumer(path, {
        handle: () => reject({ code: 'NO' }),
        wrap: (transport) =>
          withPublishes(transport, (publish) => async (messages) => {
            hops.push(...messages.map(({ deduplicationId }) => deduplicationId))
            const outcomes = await publish(messages)
            return hops.length === 1 ? outcomes.map(() => lostConfirm) : outcomes
          }),
      })
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 1, acked_dead_letter: 1 })
      expect(hops).toHaveLength(2)
      expect(new Set(hops).size).toBe(1)
      expect(hops[0]).toBeDefined()
      // Both publishes reached the broker: a copy too many is the price of losing none.
      const copies = profile.kinds.plain.deduplication ? 1 : 2
      expect(await readAll(path, subject.dead, copies)).toHaveLength(copies)
    }))

  it('loses nothing when the broker goes away between the confirm of the copy and the accept of the original', () =>
    withPath(async (path) => {
      let cuts = 0
      const subject = await openConsumer(path, {
        handle: () => reject({ code: 'NO' }),
        wrap: (transport) =>
          withPublishes(transport, (publish) => async (messages) => {
            const outcomes = await publish(messages)
            if (cuts++ === 0) await path.fixture.disrupt.cutConnections()
            return outcomes
          }),
      })
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { acked_dead_letter: 1 })
      const { deliveries, acked_dead_letter, pending_redelivery, unresolved } = subject.consumer.counts()
      expect(deliveries).toBe(acked_dead_letter + pending_redelivery + unresolved)
      const copies = await readAll(path, subject.dead, deliveries)
      expect(copies).toHaveLength(deliveries)
      expect(
        new Set(copies.map(({ messageId, headers }) => messageId ?? headers['litebus-message-id'])).size,
      ).toBe(1)
    }))

  it('copies a body over the limit as it is, unparsed', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, { maxMessageBytes: 100 })
      const body = Buffer.alloc(5000, 0xff)
      await subject.put({ messageId: 'large', body })
      await subject.order('small')
      await subject.consumer.start()
      await expectTerminals(path, subject, { acked: 1, acked_dead_letter: 1 })
      expect((await readAll(path, subject.dead, 1)).map((copy) => Buffer.from(copy.body))).toEqual([body])
    }))

  it('parks what cannot be read with a sanitised copy, a malformed retry header included', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path)
      await subject.put({ messageId: 'contract', headers: { note: 'dropped' } })
      await subject.put({
        messageId: 'attempts',
        headers: { ...contractHeaders, 'msg.retry-attempt': 'three', note: 'dropped' },
      })
      await subject.put({ messageId: 'json', body: Buffer.from('{') })
      await subject.order('valid')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 4, acked: 1, acked_dead_letter: 3 })
      const copies = (await readAll(path, subject.dead, 3)).map(textHeaders)
      expect(copies.filter((headers) => 'note' in headers)).toEqual([])
      expect(copies.map((headers) => headers['msg.failure-category']).toSorted()).toEqual([
        'DESERIALIZATION',
        'VALIDATION',
        'VALIDATION',
      ])
    }))

  /** More than the transports of the matrix publish, and less than their brokers hold. */
  const unpublishable = Buffer.alloc(profile.kinds.plain.maxMessageBytes + 1000, 0x20)

  it('holds what is too large for any copy, stops intake and says why, gives it back once, and takes nothing more', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, { maxMessageBytes: 0, holdLimitMs: 1500 })
      await subject.put({ messageId: 'large', body: unpublishable })
      await subject.consumer.start()
      await eventually(
        () => {
          expect(subject.consumer.pausedBy).toEqual(['handoff'])
        },
        { expectation: 'intake to stand still', intervalMs: 5 },
      )
      expect(subject.text()).toMatch(/handoff failed.*MESSAGE_TOO_LARGE/u)
      await eventually(
        async () => {
          expect(subject.consumer.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
          expect(subject.consumer.state).toBe('suspended')
          expect(await path.fixture.count(subject.target.source)).toBe(1)
        },
        { expectation: 'the original to go back' },
      )
      expect(subject.text()).toContain('raise the size limit of the destination')
      await subject.consumer.stop({ budgetMs: 5000 })
      expect(subject.consumer.counts().deliveries).toBe(1)
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
    }))

  if (profile.kinds.deadLetter === undefined) return
  it('leaves what is too large for any copy to the dead-letter place of its source', () =>
    withPath(async (path) => {
      const subject = await openConsumer(path, { source: 'deadLetter', maxMessageBytes: 0 })
      await subject.put({ messageId: 'large', body: unpublishable })
      await subject.order('small')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 2, acked: 1, discarded: 1 })
      const { deadLetterSource = '' } = subject.target
      const parked = await readAll(path, { ...subject.target, source: deadLetterSource }, 1)
      expect(parked.map(({ body }) => body.byteLength)).toEqual([unpublishable.byteLength])
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
    }))
})
