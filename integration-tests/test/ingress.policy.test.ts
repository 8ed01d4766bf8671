import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  FormatError,
  IdempotencyConflictError,
  InboxDispatchError,
  InboxIngressError,
  InboxStorageError,
  InvalidOperationError,
  InvocationError,
  MessageContractNotRegisteredError,
  PayloadError,
} from '@litebus/core'
import { postgresStorage } from '@litebus/storage-postgres'
import { openIngress, type OpenIngress } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, orderBody } from '../transports/message-path.ts'

const terminal: Readonly<Record<string, () => Error>> = {
  contract: () => new MessageContractNotRegisteredError('x'),
  dispatch: () => new InboxDispatchError('x'),
  ingress: () => new InboxIngressError('x'),
  storage: () => new InboxStorageError('x'),
  conflict: () => new IdempotencyConflictError('x', []),
  operation: () => new InvalidOperationError('x'),
  argument: () => new ArgumentError('x'),
  format: () => new FormatError('x'),
  payload: () => new PayloadError('x'),
  syntax: () => new SyntaxError('x'),
}
const wrappers: Readonly<Record<string, (error: Error) => Error>> = {
  bare: (error) => error,
  invocation: (cause) => new InvocationError('x', { cause }),
  aggregate: (error) => new AggregateError([error]),
  both: (error) => new AggregateError([new InvocationError('x', { cause: new AggregateError([error]) })]),
}
const transient: Readonly<Record<string, () => unknown>> = {
  fetch: () => new TypeError('fetch failed'),
  input: () => Object.assign(new Error('read EIO'), { code: 'EIO' }),
  two: () => new AggregateError([new FormatError('a'), new FormatError('b')]),
  cause: () => new Error('x', { cause: new FormatError('not a wrapper') }),
  nothing: () => undefined,
}

/** Waits until as many deliveries have ended as expected, and nothing is left at the broker. */
async function expectCounts(
  subject: OpenIngress,
  path: { readonly fixture: { count(source: string): Promise<number> } },
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  await eventually(
    async () => {
      expect(subject.ingress.counts()).toMatchObject({ ...expected, inFlight: 0 })
      expect(await path.fixture.count(subject.target.source)).toBe(0)
    },
    { expectation: JSON.stringify(expected) },
  )
}

await describeTransports('the policy of ingress', ({ withPath }) => {
  describe('with requeueOnFailure', () => {
    it('discards every terminal family, bare and in wrappers of one, without a row, and goes on', () =>
      withPath(async (path) => {
        const subject = await openIngress(path, {
          before: ([id = '']) => {
            const [family = '', wrapper = ''] = id.split('/')
            const error = terminal[family]?.()
            if (error !== undefined) throw wrappers[wrapper]?.(error) ?? error
          },
        })
        const ids = Object.keys(terminal).flatMap((family) =>
          Object.keys(wrappers).map((wrapper) => `${family}/${wrapper}`),
        )
        await subject.ingress.start()
        for (const id of ids) await subject.order(id)
        await subject.order('valid')
        await expectCounts(subject, path, { discarded: ids.length, acked: 1, returned: 0 })
        expect(subject.events().filter((event) => event === 3005)).toHaveLength(ids.length)
        expect((await path.inboxRows()).map(({ message }) => Buffer.from(message.body))).toEqual([
          Buffer.from(orderBody('valid')),
        ])
      }))

    it('returns whatever may pass, an aggregate of two included, and accepts it in the end', () =>
      withPath(async (path) => {
        const failures = new Map<string, number>()
        const subject = await openIngress(path, {
          before: ([id = '']) => {
            const soFar = failures.get(id) ?? 0
            failures.set(id, soFar + 1)
            if (soFar < 2) throw transient[id]?.()
          },
        })
        await subject.ingress.start()
        for (const id of Object.keys(transient)) await subject.order(id)
        await expectCounts(subject, path, { acked: Object.keys(transient).length, discarded: 0 })
        expect([...failures.values()].every((count) => count >= 3)).toBe(true)
        expect(subject.ingress.counts().returned).toBeGreaterThanOrEqual(2)
        expect(await path.inboxRows()).toHaveLength(Object.keys(transient).length)
      }))
  })

  it('with requeueOnFailure off discards what fails, whatever it was, drains poison, and writes no row of it', () =>
    withPath(async (path) => {
      const subject = await openIngress(path, {
        requeueOnFailure: false,
        before: ([id = '']) => {
          if (id in transient) throw transient[id]?.()
        },
      })
      await subject.ingress.start()
      for (const id of Object.keys(transient)) await subject.order(id)
      for (let index = 0; index < 20; index++) {
        await subject.put({ messageId: `poison-${String(index)}`, body: Buffer.from('{') })
      }
      await subject.order('valid')
      const discarded = Object.keys(transient).length + 20
      await expectCounts(subject, path, { discarded, acked: 1, returned: 0 })
      expect(await path.inboxRows()).toHaveLength(1)
    }))

  it('never writes what is wrong with the delivery itself, and says what it was', () =>
    withPath(async (path) => {
      const subject = await openIngress(path, { maxMessageBytes: 1000 })
      const wrong = [
        { messageId: 'no headers', headers: {} },
        { messageId: 'no version', headers: { 'litebus-contract-name': 'order-placed' } },
        { messageId: 'version', headers: { ...contractHeaders, 'litebus-contract-version': 'one' } },
        { messageId: 'contract', headers: { ...contractHeaders, 'litebus-contract-name': 'unknown' } },
        { messageId: 'newer', headers: { ...contractHeaders, 'litebus-contract-version': '2' } },
        { messageId: 'json', body: Buffer.from('{"id":') },
        { messageId: 'utf-8', body: Buffer.from('{"id":"\xff"}', 'latin1') },
        { messageId: 'schema', body: Buffer.from('{"id":7}') },
        { messageId: 'empty', body: Buffer.alloc(0) },
        { messageId: 'size', body: Buffer.from(`{"id":"${'x'.repeat(1000)}"}`) },
      ]
      await subject.ingress.start()
      for (const message of wrong) await subject.put(message)
      await expectCounts(subject, path, { discarded: wrong.length, acked: 0, returned: 0 })
      expect(await path.inboxRows()).toEqual([])
      const reasons = subject
        .about(3005)
        .map(({ code, reason, header, found }) => [code, reason, header, found].join(' ').trim())
      expect(reasons.toSorted()).toEqual(
        [
          'INBOX_INGRESS_REFUSED headers litebus-contract-name 0',
          'INBOX_INGRESS_REFUSED headers litebus-contract-version 0',
          'INBOX_INGRESS_REFUSED headers litebus-contract-version 3',
          'CONTRACT_NOT_REGISTERED contract  7',
          'CONTRACT_NOT_REGISTERED version',
          'PAYLOAD_INVALID body  6',
          'PAYLOAD_INVALID body  10',
          'PAYLOAD_INVALID schema',
          'PAYLOAD_INVALID body  0',
          'INBOX_INGRESS_REFUSED size  1009',
        ].toSorted(),
      )
      expect(subject.log()).not.toMatch(/"one"|unknown|xxx/)
    }))

  it('lets authorization refuse for good, and treats its failures like those of the store', () =>
    withPath(async (path) => {
      let asked = 0
      const subject = await openIngress(path, {
        authorizeDelivery: (message) => {
          asked += 1
          if (Buffer.from(message.body).includes('refused')) return false
          if (asked <= 2) throw new Error('the service of permissions is restarting')
          return true
        },
      })
      await subject.ingress.start()
      await subject.order('allowed')
      await eventually(
        () => {
          expect(subject.ingress.counts().acked).toBe(1)
        },
        { expectation: 'the allowed order' },
      )
      await subject.order('refused')
      await expectCounts(subject, path, { discarded: 1, acked: 1 })
      expect(await path.inboxRows()).toHaveLength(1)
    }))

  it('discards while the inbox is full', () =>
    withPath(async (path) => {
      const full = path.scope.use(postgresStorage({ pool: path.pool, maxPendingRows: 1, listen: false }))
      const subject = await openIngress(path, { inboxStore: full.inbox, maxInFlightMessages: 1 })
      await subject.order('first')
      await subject.ingress.start()
      await expectCounts(subject, path, { acked: 1 })
      // The count is looked at once a second at most, so the first ones beyond the limit may still get in.
      await eventually(
        async () => {
          await subject.order(crypto.randomUUID())
          expect(subject.ingress.counts().discarded).toBeGreaterThan(0)
        },
        { expectation: 'a full inbox to refuse' },
      )
      const { acked } = subject.ingress.counts()
      await expectCounts(subject, path, { returned: 0 })
      expect((await path.inboxRows()).length).toBeGreaterThanOrEqual(acked)
      expect(subject.log()).toContain('INBOX_STORAGE_REFUSED')
    }))
})
