import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  checkHeaderBounds,
  headerBounds,
  hopHeaders,
  InboxIngressError,
  isReservedHeader,
  readHeaders,
  writeHeaders,
  type Headers,
  type HeaderValue,
  type InboundMessage,
} from '../src/index.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const required = { 'litebus-contract-name': 'order-placed', 'litebus-contract-version': '3' }
const inbound = (headers: Headers, more: Partial<InboundMessage> = {}): InboundMessage => ({
  destination: 'orders',
  body: new Uint8Array(),
  headers,
  ...more,
})
const read = (headers: Headers, trusted = false): ReturnType<typeof readHeaders> =>
  readHeaders(inbound({ ...required, ...headers }), {
    trustApplicationHeaders: trusted,
    nowMs: Date.UTC(2026, 0, 1),
  })

function thrownBy(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

describe('readHeaders', () => {
  it.each<[string, HeaderValue]>([
    ['text', '3'],
    ['padded text', ' 3 '],
    ['a number', 3],
    ['a bigint', 3n],
    ['bytes', new TextEncoder().encode('3')],
  ])('reads the contract version from %s', (_name, value) => {
    expect(read({ 'litebus-contract-version': value }).contractVersion).toBe(3)
  })
  it.each<[string, HeaderValue | undefined]>([
    ['nothing', undefined],
    ['null', null],
    ['blank text', ' '],
    ['zero', 0],
    ['a negative number', -1],
    ['a fraction', 1.5],
    ['an exponent', '1e3'],
    ['hex', '0x10'],
    ['text', 'three'],
    ['a huge number', '99999999999'],
    ['NaN', Number.NaN],
    ['a boolean', true],
    ['bytes that are not UTF-8', Uint8Array.of(0xff)],
    ['a list', [3]],
    ['a table', { version: 3 }],
  ])('refuses %s as contract version, without quoting it', (_name, value) => {
    expect(() => read({ 'litebus-contract-version': value })).toThrow(InboxIngressError)
    expect(() => read({ 'litebus-contract-name': value === 'three' ? null : undefined })).toThrow(
      /litebus-contract-name/,
    )
  })
  it('ignores tenant and idempotency key of untrusted publishers and reads them of trusted ones', () => {
    const headers = { 'tenant-id': 't', 'litebus-idempotency-key': 'k', 'litebus-message-id': 'm' }
    expect(read(headers)).toEqual({
      contractName: 'order-placed',
      contractVersion: 3,
      messageId: 'm',
      headers: {},
    })
    expect(read(headers, true)).toMatchObject({ tenantId: 't', idempotencyKey: 'k' })
  })
  it('reads the legacy correlation header only as a fallback', () => {
    expect(read({ CorrelationId: 'old' }).correlationId).toBe('old')
    expect(read({ CorrelationId: 'old', 'correlation-id': 'new' }).correlationId).toBe('new')
  })
  it('takes the ordering key from the broker when no header has it', () => {
    const message = inbound(required, { orderingKey: 'group' })
    expect(readHeaders(message, { trustApplicationHeaders: false, nowMs: 0 }).orderingKey).toBe('group')
    expect(read({ 'litebus-ordering-key': 'own' }).orderingKey).toBe('own')
  })
  it.each<[string, Headers, unknown]>([
    ['a time', { 'litebus-visible-after': '2026-01-02T03:04:05Z' }, { at: new Date('2026-01-02T03:04:05Z') }],
    ['a date', { 'litebus-visible-after': '2026-01-02' }, { at: new Date('2026-01-02T00:00:00Z') }],
    ['an invalid time', { 'litebus-visible-after': 'tomorrow' }, undefined],
    ['a time without a zone', { 'litebus-visible-after': '2026-01-02T03:04:05' }, undefined],
    ['a time in a thousand years', { 'litebus-visible-after': '3026-01-02T03:04:05Z' }, undefined],
    ['decimal seconds', { 'litebus-visible-after-delay': '1.5' }, { afterMs: 1500 }],
    ['a number of seconds', { 'litebus-visible-after-delay': 5 }, { afterMs: 5000 }],
    ['an ISO duration', { 'litebus-visible-after-delay': 'PT5S' }, { afterMs: 5000 }],
    ['a long ISO duration', { 'litebus-visible-after-delay': 'P1DT2H3M4.5S' }, { afterMs: 93_784_500 }],
    [
      'both: the delay wins',
      { 'litebus-visible-after': '2026-01-02T03:04:05Z', 'litebus-visible-after-delay': '2' },
      { afterMs: 2000 },
    ],
    ['a negative delay', { 'litebus-visible-after-delay': '-2' }, undefined],
    ['an endless delay', { 'litebus-visible-after-delay': '9'.repeat(40) }, undefined],
    ['an empty duration', { 'litebus-visible-after-delay': 'P' }, undefined],
  ])('reads visibility from %s', (_name, headers, expected) => {
    expect(read(headers).visibility).toEqual(expected)
  })
  it('reads the trace context from our header, as text or JSON, and falls back to the native headers', () => {
    expect(read({ 'litebus-trace-context': traceparent }).trace).toEqual({ traceparent })
    const json = JSON.stringify({ traceparent, tracestate: 'a=b' })
    expect(read({ 'litebus-trace-context': json, baggage: 'x=y' }).trace).toEqual({
      traceparent,
      tracestate: 'a=b',
      baggage: 'x=y',
    })
    expect(read({ traceparent, tracestate: 'c=d' }).trace).toEqual({ traceparent, tracestate: 'c=d' })
    expect(read({ traceparent: '00-0-0-0' }).trace).toBeUndefined()
    expect(read({ 'litebus-trace-context': '{broken' }).trace).toBeUndefined()
  })
  it('keeps application headers as text and drops those of LiteBus and of the broker', () => {
    const headers = read({
      shop: 'ž',
      count: 7n,
      flag: true,
      raw: new TextEncoder().encode('ok'),
      list: [1, Uint8Array.of(1)],
      'x-death': [{ count: 1 }],
      'x-delivery-count': 4,
      'msg.secret': 'x',
      'LITEBUS-anything': 'x',
    }).headers
    expect(headers).toEqual({ shop: 'ž', count: '7', flag: 'true', raw: 'ok', list: '[1,"AQ=="]' })
  })
  it('answers or refuses with an ingress error for any headers within the bounds', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(
        ...Object.keys(required),
        'litebus-visible-after',
        'litebus-visible-after-delay',
        'litebus-trace-context',
        'traceparent',
        'correlation-id',
        'tenant-id',
        'litebus-ordering-key',
      ),
    )
    const { value } = fc.letrec<{ value: HeaderValue; leaf: HeaderValue }>((tie) => ({
      leaf: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.integer(),
        fc.double(),
        fc.bigInt(),
        fc.boolean(),
        fc.constant(null),
        fc.uint8Array(),
        fc.date({ noInvalidDate: false }),
      ),
      value: fc.oneof(
        { maxDepth: 5 },
        tie('leaf'),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.boolean(), (headers, trustApplicationHeaders) => {
        const refused = thrownBy(() => {
          checkHeaderBounds(headers)
          readHeaders(inbound({ ...required, ...headers }), { trustApplicationHeaders, nowMs: 0 })
        })
        expect(refused === undefined || refused instanceof InboxIngressError).toBe(true)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('writeHeaders', () => {
  it('round-trips everything that a message carries', () => {
    const message = {
      id: '0198c0de-0000-7000-8000-000000000001',
      contractName: 'order-placed',
      contractVersion: 3,
      tenantId: 't',
      orderingKey: 'o',
      correlationId: 'c',
      causationId: 'a',
      idempotencyKey: 'k',
      trace: { traceparent, tracestate: 'a=b', baggage: 'x=y' },
      headers: { shop: 'ž' },
    }
    const { id, ...rest } = message
    expect(readHeaders(inbound(writeHeaders(message)), { trustApplicationHeaders: true, nowMs: 0 })).toEqual({
      ...rest,
      messageId: id,
    })
  })
  it('lets no application header pass for one of ours', () => {
    const headers = writeHeaders({
      id: 'i',
      contractName: 'n',
      contractVersion: 1,
      headers: { 'Litebus-Contract-Name': 'forged', 'msg.retry-attempt': '0', 'Tenant-Id': 'forged' },
    })
    expect(headers).toEqual({
      'litebus-message-id': 'i',
      'litebus-contract-name': 'n',
      'litebus-contract-version': '1',
    })
  })
  it('reserves every header of a hop', () => {
    expect(Object.values(hopHeaders).every(isReservedHeader)).toBe(true)
  })
})

describe('checkHeaderBounds', () => {
  const many = (count: number): Headers =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${String(i)}`, 'v']))
  const nested = (depth: number): HeaderValue => (depth === 0 ? 'x' : [nested(depth - 1)])

  it.each<[string, Headers, Headers]>([
    ['count', many(64), many(65)],
    ['name bytes', { ['n'.repeat(128)]: 'v' }, { ['ž'.repeat(65)]: 'v' }],
    ['value bytes', { a: 'v'.repeat(8192) }, { a: 'ž'.repeat(4097) }],
    [
      'value bytes in a table',
      { a: { b: 'v'.repeat(8000) } },
      { a: { b: 'v'.repeat(4100), c: 'v'.repeat(4100) } },
    ],
    [
      'total bytes',
      { a: 'v'.repeat(8000), b: 'v'.repeat(8000), c: 'v'.repeat(8000), d: 'v'.repeat(8000) },
      { a: 'v'.repeat(8192), b: 'v'.repeat(8192), c: 'v'.repeat(8192), d: 'v'.repeat(8192) },
    ],
    ['depth', { a: nested(4) }, { a: nested(5) }],
    ['a value of ours', { baggage: 'v'.repeat(8192) }, { baggage: 'v'.repeat(8193) }],
  ])('takes the limit of %s and refuses one more', (_name, atLimit, over) => {
    expect(() => {
      checkHeaderBounds(atLimit)
    }).not.toThrow()
    expect(() => {
      checkHeaderBounds(over)
    }).toThrow(InboxIngressError)
  })
  it('does not count our own headers, nor those that the broker added', () => {
    const hops = Object.fromEntries(Object.values(hopHeaders).map((name) => [name, 'v'.repeat(1000)]))
    const deaths = { 'x-death': Array.from({ length: 50 }, () => ({ a: nested(9) })), 'x-delivery-count': 50 }
    expect(() => {
      checkHeaderBounds({ ...many(headerBounds.maxHeaders), ...required, ...hops, ...deaths })
    }).not.toThrow()
  })
})
