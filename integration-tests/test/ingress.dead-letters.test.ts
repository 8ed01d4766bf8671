import { describe, expect, it } from '@jest/globals'
import { publishFailures, type PublishOutcome } from '@litebus/core'
import { openIngress, type OpenIngress, type OpenIngressOptions } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { withPublishes, type Publish } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, type MessagePath } from '../transports/message-path.ts'
import { readAll, textHeaders } from '../transports/read-all.ts'
import type { TestDestination } from '@litebus/conformance'

interface Parking extends OpenIngress {
  /** Where its dead letters go. */
  readonly dead: TestDestination
}

/** An ingress that parks what it discards. */
async function openParking(
  path: MessagePath,
  {
    around = (publish) => publish,
    ...options
  }: OpenIngressOptions & { readonly around?: (publish: Publish, dead: TestDestination) => Publish } = {},
): Promise<Parking> {
  const dead = await path.fixture.createDestination('plain')
  const subject = await openIngress(path, {
    onDiscard: { deadLetter: dead.destination },
    wrap: (transport) => withPublishes(transport, (publish) => around(publish, dead)),
    ...options,
  })
  return { ...subject, dead }
}

async function expectEnd(
  path: MessagePath,
  subject: OpenIngress,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  await eventually(
    async () => {
      expect(subject.ingress.counts()).toMatchObject({ ...counts, inFlight: 0 })
      expect(await path.fixture.count(subject.target.source)).toBe(0)
    },
    { expectation: JSON.stringify(counts), timeoutMs: 30_000 },
  )
}

const poison = { messageId: 'poison', body: Buffer.from('no JSON, but ž') }
const unavailable: PublishOutcome = { status: 'unavailable', failure: publishFailures.connectionLost }
const ambiguous: PublishOutcome = { status: 'ambiguous', failure: publishFailures.timeout }

await describeTransports('the dead letters of ingress', ({ profile, withPath }) => {
  it('are confirmed copies with the reserved headers, and nothing leaves its source before', () =>
    withPath(async (path) => {
      const { promise: confirm, resolve } = Promise.withResolvers<undefined>()
      const { promise: sent, resolve: send } = Promise.withResolvers<undefined>()
      const subject = await openParking(path, {
        around: (publish) => async (messages) => {
          const outcomes = await publish(messages)
          send(undefined)
          await confirm
          return outcomes
        },
      })
      await subject.ingress.start()
      await subject.put({ ...poison, headers: { ...contractHeaders, note: 'kept' } })
      await sent
      expect(subject.ingress.counts()).toMatchObject({ deliveries: 1, inFlight: 1 })
      expect(subject.about(3005)).toEqual([])
      resolve(undefined)
      await expectEnd(path, subject, { deliveries: 1, acked_dead_letter: 1 })
      const [copy] = await readAll(path, subject.dead, 1)
      if (copy === undefined) throw new Error('expected a copy')
      expect(Buffer.from(copy.body)).toEqual(poison.body)
      expect(textHeaders(copy)).toMatchObject({
        ...contractHeaders,
        note: 'kept',
        'msg.failure-category': 'DESERIALIZATION',
        'msg.failure-code': 'PAYLOAD_INVALID',
        'msg.origin-destination': subject.target.source,
        'msg.retry-attempt': '1',
      })
      expect(subject.about(3005)).toMatchObject([
        { code: 'PAYLOAD_INVALID', reason: 'body', terminal: 'acked_dead_letter' },
      ])
      expect(await path.inboxRows()).toEqual([])
    }))

  describe('whose place', () => {
    interface Trouble {
      readonly name: string
      /** Copies that may be there in the end. */
      readonly copies: readonly number[]
      readonly around: (over: () => boolean) => (publish: Publish, dead: TestDestination) => Publish
    }
    const troubles: readonly Trouble[] = [
      {
        name: 'is missing',
        copies: [1],
        around: (over) => (publish, dead) => (messages) =>
          publish(
            over() ? messages : messages.map((each) => ({ ...each, destination: `${dead.destination}-no` })),
          ),
      },
      {
        name: 'cannot be reached',
        copies: [1],
        around: (over) => (publish) => (messages) =>
          over() ? publish(messages) : Promise.resolve(messages.map(() => unavailable)),
      },
      {
        name: 'does not answer',
        copies: profile.kinds.plain.deduplication ? [1] : [2, 3, 4, 5, 6, 7, 8],
        around: (over) => (publish) => async (messages) => {
          const outcomes = await publish(messages)
          return over() ? outcomes : messages.map(() => ambiguous)
        },
      },
    ]
    it.each(troubles)(
      '$name hold their source and stop intake, which says why and goes on by itself',
      ({ around, copies }) =>
        withPath(async (path) => {
          let over = false
          const subject = await openParking(path, {
            around: around(() => over),
            maxInFlightMessages: 1,
            executionBudgetMs: 5000,
          })
          await subject.ingress.start()
          await subject.put(poison)
          await eventually(
            () => {
              expect(subject.ingress.pausedBy).toEqual(['handoff'])
            },
            { expectation: 'intake to stand still' },
          )
          await expect(subject.ingress.probe()).rejects.toThrow('paused by handoff')
          await subject.order('behind')
          expect(subject.ingress.counts()).toMatchObject({ deliveries: 1, inFlight: 1, discarded: 0 })
          expect(subject.about(3005)).toEqual([])
          expect(subject.log()).toContain('handoff failed: intake stands still')
          over = true
          await expectEnd(path, subject, { deliveries: 2, acked_dead_letter: 1, acked: 1, returned: 0 })
          expect(subject.ingress.pausedBy).toEqual([])
          const parked = await readAll(path, subject.dead, Math.min(...copies))
          expect(copies).toContain(parked.length + (await path.fixture.count(subject.dead.source)))
          expect(await path.inboxRows()).toHaveLength(1)
        }),
      60_000,
    )
  })

  it('that a stop finds without a confirm stay at their source', () =>
    withPath(async (path) => {
      const subject = await openParking(path, {
        around: () => (messages) => Promise.resolve(messages.map(() => unavailable)),
      })
      await subject.ingress.start()
      await subject.put(poison)
      await eventually(
        () => {
          expect(subject.ingress.pausedBy).toEqual(['handoff'])
        },
        { expectation: 'intake to stand still' },
      )
      const report = await subject.ingress.stop({ budgetMs: 10_000 })
      expect(report.settlements).toMatchObject({
        deliveries: 1,
        returned: 1,
        discarded: 0,
        acked_dead_letter: 0,
      })
      await eventually(
        async () => {
          expect(await path.fixture.count(subject.target.source)).toBe(1)
        },
        { expectation: 'the poison to be back' },
      )
    }))

  describe('over the limit', () => {
    const { maxMessageBytes } = profile.kinds.plain
    const limit = 1000
    const body = Buffer.alloc(5000, 0xff)
    const size = { code: 'INBOX_INGRESS_REFUSED', reason: 'size', expected: 'at most 1000 bytes' }

    it('of the ingress are parked by the broker where it can, without a copy, else copied as they are', () =>
      withPath(async (path) => {
        const parks = profile.kinds.deadLetter?.nativeDeadLetter === true
        const subject = await openParking(path, {
          source: parks ? 'deadLetter' : 'plain',
          maxMessageBytes: limit,
        })
        await subject.ingress.start()
        await subject.put({ messageId: 'large', body })
        await subject.order('small')
        const terminal = parks ? 'discarded' : 'acked_dead_letter'
        await expectEnd(path, subject, { deliveries: 2, acked: 1, [terminal]: 1 })
        const { deadLetterSource: source = '' } = subject.target
        const place = parks ? { source, destination: source } : subject.dead
        const [parked] = await readAll(path, place, 1)
        expect(Buffer.from(parked?.body ?? [])).toEqual(body)
        const copies = parks ? await path.fixture.count(subject.dead.source) : 0
        expect(copies).toBe(0)
        expect(subject.about(3005)).toMatchObject([{ ...size, found: body.byteLength, terminal }])
        expect(await path.inboxRows()).toHaveLength(1)
      }))

    it('of the ingress are discarded where nobody parks them', () =>
      withPath(async (path) => {
        const subject = await openIngress(path, { maxMessageBytes: limit })
        await subject.ingress.start()
        await subject.put({ messageId: 'large', body })
        await subject.order('small')
        await expectEnd(path, subject, { deliveries: 2, acked: 1, discarded: 1 })
        expect(subject.about(3005)).toMatchObject([
          { ...size, found: body.byteLength, terminal: 'discarded' },
        ])
      }))

    it('of the transport itself are discarded, not held and returned for ever', () =>
      withPath(async (path) => {
        const subject = await openParking(path, { maxMessageBytes: limit, maxInFlightMessages: 1 })
        const beyond = Buffer.alloc(maxMessageBytes + 1, 0x20)
        await subject.ingress.start()
        await subject.put({ messageId: 'beyond', body: beyond })
        await subject.order('behind')
        await expectEnd(path, subject, { deliveries: 2, acked: 1, discarded: 1, returned: 0 })
        expect(subject.about(3005)).toMatchObject([
          { ...size, found: beyond.byteLength, terminal: 'discarded' },
        ])
        expect(subject.ingress.pausedBy).toEqual([])
        expect(await path.fixture.count(subject.dead.source)).toBe(0)
      }))
  })
})
