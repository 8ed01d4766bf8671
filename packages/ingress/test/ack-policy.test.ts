import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  defineContract,
  FormatError,
  IdempotencyConflictError,
  InboxDispatchError,
  InboxIngressError,
  InboxStorageError,
  InvalidOperationError,
  InvocationError,
  MessageContractNotRegisteredError,
  OptionsError,
  PayloadError,
  TransportUnavailableError,
} from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { memoryStorage } from '@litebus/storage-memory'
import { bench, orderPlaced } from './arrange.ts'

const terminal: readonly [string, Error][] = [
  ['MessageContractNotRegisteredError', new MessageContractNotRegisteredError('x')],
  ['InboxDispatchError', new InboxDispatchError('x')],
  ['InboxIngressError', new InboxIngressError('x')],
  ['InboxStorageError', new InboxStorageError('x')],
  ['IdempotencyConflictError', new IdempotencyConflictError('x', [])],
  ['InvalidOperationError', new InvalidOperationError('x')],
  ['ArgumentError', new ArgumentError('x')],
  ['OptionsError', new OptionsError('x', ['y'])],
  ['FormatError', new FormatError('x')],
  ['PayloadError', new PayloadError('x')],
  ['a native SyntaxError', new SyntaxError('x')],
]
const wrappers: readonly [string, (error: Error) => Error][] = [
  ['bare', (error) => error],
  ['in an invocation wrapper', (cause) => new InvocationError('x', { cause })],
  ['in an aggregate of one', (error) => new AggregateError([error])],
  [
    'in both',
    (error) => new AggregateError([new InvocationError('x', { cause: new AggregateError([error]) })]),
  ],
]
const transient: readonly [string, unknown][] = [
  ['a TypeError of the store', new TypeError('fetch failed')],
  ['TransportUnavailableError', new TransportUnavailableError('x')],
  ['an aggregate of two terminal errors', new AggregateError([new FormatError('a'), new FormatError('b')])],
  ['undefined', undefined],
]

describe('a write that fails for good', () => {
  for (const [wrapped, wrap] of wrappers) {
    it.each(terminal)(`with %s ${wrapped} discards with event 3005`, async (_name, error) => {
      const parts = bench()
      parts.before = () => {
        throw wrap(error)
      }
      const subject = parts.ingress()
      parts.order('a')
      await subject.start()
      await parts.clock.advance(1)
      expect(subject.counts()).toMatchObject({ deliveries: 1, discarded: 1, inFlight: 0 })
      expect(parts.events()).toEqual([3005])
      expect(parts.logged.find(({ fields }) => fields.eventId === 3005)?.level).toBe('warn')
      expect(parts.counted.get('litebus.consumer.settlements')).toBe(1)
      expect(await parts.rows()).toEqual([])
      await subject.stop()
    })
  }
})

describe('a write that fails and may succeed later', () => {
  it.each(transient)(
    'with %s goes back with a growing delay and is accepted in the end',
    async (_name, error) => {
      const parts = bench()
      let faults = 3
      parts.before = () => {
        if (faults-- > 0) throw error
      }
      const subject = parts.ingress()
      parts.order('a')
      await subject.start()
      await parts.clock.advance(1)
      expect(parts.broker.count('billing')).toEqual({ ready: 0, unsettled: 0, delayed: 1 })
      await parts.clock.advance(6000)
      expect(subject.counts()).toMatchObject({ deliveries: 3, returned: 3 })
      await parts.clock.advance(1001)
      expect(subject.counts()).toMatchObject({ deliveries: 4, returned: 3, acked: 1, inFlight: 0 })
      expect(await parts.rows()).toHaveLength(1)
      const told = parts.logged.filter(({ message }) => message.startsWith('deliveries go back'))
      expect(told).toMatchObject([
        { level: 'warn', fields: { source: 'billing', error: expect.stringMatching(/^\w+$/) } },
      ])
      await subject.stop()
    },
  )

  it.each(transient)('with %s is discarded when requeueOnFailure is off', async (_name, error) => {
    const parts = bench()
    parts.before = () => {
      throw error
    }
    const subject = parts.ingress({ requeueOnFailure: false })
    parts.order('a', 'b', 'c')
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 3, inFlight: 0 })
    expect(parts.broker.count('billing')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
    expect(await parts.rows()).toEqual([])
    await subject.stop()
  })
})

describe('a store that is full by its own limit', () => {
  it('refuses the message, which is discarded', async () => {
    const parts = bench()
    const full = memoryStorage({ clock: parts.clock, maxPendingRows: 1 })
    const inbox = createInbox({ store: full.inbox, contracts: [orderPlaced] })
    const subject = parts.ingress({ inbox: inbox })
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 1, discarded: 1 })
    await subject.stop()
  })
})

describe('construction', () => {
  it('refuses a contract that its inbox does not accept: all of it would be discarded', () => {
    const parts = bench()
    const inbox = createInbox({ store: parts.storage.inbox, contracts: [orderPlaced] })
    const other = defineContract({ name: 'order-cancelled', version: 1 })
    const newer = defineContract({ name: 'order-placed', version: 2 })
    for (const contract of [other, newer]) {
      expect(() => parts.ingress({ inbox, contracts: [orderPlaced, contract] })).toThrow(
        /give it to createInbox/,
      )
    }
  })
})
