import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  DuplicateInFlightError,
  FormatError,
  IdempotencyConflictError,
  InboxDispatchError,
  InboxIngressError,
  InboxStorageError,
  IngressAckPolicy,
  InvalidOperationError,
  InvocationError,
  MessageContractNotRegisteredError,
  OptionsError,
  PayloadError,
  StoreUnavailableError,
  TransportUnavailableError,
} from '../src/index.ts'

const { shouldRequeue, unwrapException } = IngressAckPolicy

const terminal: readonly [string, unknown][] = [
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
const transient: readonly [string, unknown][] = [
  ['Error', new Error('x')],
  ['TypeError: fetch failed', new TypeError('fetch failed')],
  ['RangeError of a stack overflow', new RangeError('Maximum call stack size exceeded')],
  ['ReferenceError', new ReferenceError('x')],
  ['URIError', new URIError('x')],
  ['an I/O error', Object.assign(new Error('read'), { code: 'ECONNRESET' })],
  ['StoreUnavailableError', new StoreUnavailableError('x')],
  ['DuplicateInFlightError', new DuplicateInFlightError('x', [])],
  ['TransportUnavailableError', new TransportUnavailableError('x')],
  ['undefined', undefined],
  ['null', null],
  ['a string', 'INBOX_INGRESS_REFUSED'],
  ['a number', 7],
  ['a symbol', Symbol('x')],
  ['a plain object with a terminal code but no brand', { code: 'PAYLOAD_INVALID' }],
  ['an aggregate of two terminal errors', new AggregateError([new FormatError('a'), new FormatError('b')])],
  ['an aggregate of nothing', new AggregateError([])],
  ['an error with a terminal cause', new Error('x', { cause: new FormatError('y') })],
]
const wrappers: readonly [string, (error: unknown) => unknown][] = [
  ['bare', (error) => error],
  ['in an invocation wrapper', (cause) => new InvocationError('x', { cause })],
  ['in an aggregate of one', (error) => new AggregateError([error])],
  [
    'in an aggregate in an invocation wrapper in an aggregate',
    (error) => new AggregateError([new InvocationError('x', { cause: new AggregateError([error]) })]),
  ],
]

describe('IngressAckPolicy.shouldRequeue', () => {
  for (const [wrapped, wrap] of wrappers) {
    it.each(terminal)(`discards %s ${wrapped}`, (_name, error) => {
      expect(shouldRequeue(wrap(error), true)).toBe(false)
    })
    it.each(transient)(`requeues %s ${wrapped}`, (_name, error) => {
      expect(shouldRequeue(wrap(error), true)).toBe(true)
    })
    it.each([...terminal, ...transient])(
      `discards %s ${wrapped} when requeueOnFailure is off`,
      (_name, error) => {
        expect(shouldRequeue(wrap(error), false)).toBe(false)
      },
    )
  }

  it('classifies errors of another copy of the package by brand and code', () => {
    const foreign = Object.assign(new Error('x'), {
      code: 'FORMAT_INVALID',
      [Symbol.for('@litebus/error')]: true,
    })
    expect(shouldRequeue(foreign, true)).toBe(false)
  })

  it('requeues a hostile value instead of throwing', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('hostile')
        },
        getPrototypeOf: () => {
          throw new Error('hostile')
        },
      },
    )
    expect(shouldRequeue(hostile, true)).toBe(true)
    expect(shouldRequeue(new InvocationError('x', { cause: hostile }), true)).toBe(true)
  })
})

describe('IngressAckPolicy.unwrapException', () => {
  it('returns an error that leads back to itself as it is', () => {
    const first = new InvocationError('first', { cause: undefined })
    const second = new AggregateError([first])
    Object.defineProperty(first, 'cause', { value: second })
    expect(unwrapException(first)).toBe(first)
    expect(unwrapException(second)).toBe(second)
  })

  it('peels no other cause', () => {
    const error = new Error('outer', { cause: new FormatError('inner') })
    expect(unwrapException(error)).toBe(error)
  })

  it('keeps an aggregate of several errors', () => {
    const error = new AggregateError([new Error('a'), new Error('b')])
    expect(unwrapException(new InvocationError('x', { cause: error }))).toBe(error)
  })

  it('peels ten thousand layers', () => {
    const core = new FormatError('core')
    let error: unknown = core
    for (let layer = 0; layer < 10_000; layer++) error = new InvocationError('x', { cause: error })
    expect(unwrapException(error)).toBe(core)
  })
})
