import { describe, expect, it } from '@jest/globals'
import { InboxIngressError } from '@litebus/core'
import { bench, contractHeaders, type Sent } from './arrange.ts'

describe('a delivery that is wrong in itself', () => {
  const big = new Uint8Array(2001).fill(32)
  const named = (headers: Sent['headers'], body = '{"id":"1"}'): Sent => ({
    messageId: 'a',
    headers: { ...contractHeaders, ...headers },
    body: new TextEncoder().encode(body),
  })
  const refused = (fields: object): object => ({ code: 'INBOX_INGRESS_REFUSED', ...fields })
  const wrongHeader = (header: string, expected: string, found?: number): object =>
    refused({ reason: 'headers', header, expected, ...(found === undefined ? {} : { found }) })
  const wrongHeaders = (expected: string, found: number): object =>
    refused({ reason: 'headers', expected, found })
  const wrongId = (found: number): object =>
    refused({ reason: 'identity', expected: 'at most 400 characters of well-formed text without NUL', found })
  const integer = 'an integer from 0 to 2147483647'
  const short = 'at most 512 characters without NUL'
  const storable = 'at most 512 characters of well-formed text without NUL'
  const version = 'litebus-contract-version'
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`h${String(n)}`, 1]))
  const heavy = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`h${String(n)}`, 'x'.repeat(8000)]))
  const cases: readonly [string, Sent, object][] = [
    [
      'a body over the limit',
      { messageId: 'a', body: big },
      refused({ reason: 'size', expected: 'at most 2000 bytes', found: 2001 }),
    ],
    ['no id', {}, refused({ reason: 'identity', expected: 'a message id', found: 0 })],
    ['an id that is too long', { messageId: 'x'.repeat(401) }, wrongId(401)],
    ['an id with NUL', { messageId: 'x\0' }, wrongId(2)],
    [
      'no contract name',
      { messageId: 'a', headers: { 'litebus-contract-version': '1' } },
      wrongHeader('litebus-contract-name', 'a value', 0),
    ],
    [
      'a contract name that is blank',
      named({ 'litebus-contract-name': '  ' }),
      wrongHeader('litebus-contract-name', 'a value', 0),
    ],
    [
      'a contract name that is a table',
      named({ 'litebus-contract-name': { a: 'secret' } }),
      wrongHeader('litebus-contract-name', 'text'),
    ],
    [
      'no contract version',
      { messageId: 'a', headers: { 'litebus-contract-name': 'order-placed' } },
      wrongHeader(version, 'a value', 0),
    ],
    ['a contract version of 0', named({ [version]: 0 }), wrongHeader(version, 'a positive integer', 1)],
    ['a contract version in words', named({ [version]: 'secret' }), wrongHeader(version, integer, 6)],
    [
      'a contract version that is no UTF-8',
      named({ [version]: new Uint8Array([0xff, 0xfe]) }),
      wrongHeader(version, 'text', 2),
    ],
    [
      'a correlation id that is too long',
      named({ 'correlation-id': 'x'.repeat(513) }),
      wrongHeader('correlation-id', short, 513),
    ],
    ['a causation id with NUL', named({ 'causation-id': 'secret\0' }), wrongHeader('causation-id', short, 7)],
    [
      'an unknown contract',
      named({ 'litebus-contract-name': 'secret' }),
      { code: 'CONTRACT_NOT_REGISTERED', reason: 'contract', expected: 'a registered contract', found: 6 },
    ],
    [
      'a version newer than ours',
      named({ [version]: '2' }),
      { code: 'CONTRACT_NOT_REGISTERED', reason: 'version', expected: 'version 1 or older' },
    ],
    [
      'a body that is no JSON',
      named({}, '{'),
      { code: 'PAYLOAD_INVALID', reason: 'body', expected: 'a body that can be parsed', found: 1 },
    ],
    [
      'a body that is no UTF-8',
      { messageId: 'a', body: new Uint8Array([0xff, 0xfe]) },
      { code: 'PAYLOAD_INVALID', reason: 'body', expected: 'a body that can be parsed', found: 2 },
    ],
    ['a body that the schema refuses', named({}, '{}'), { code: 'PAYLOAD_INVALID', reason: 'schema' }],
    [
      'an empty body',
      named({}, ''),
      { code: 'PAYLOAD_INVALID', reason: 'body', expected: 'a body that can be parsed', found: 0 },
    ],
    ['too many headers', named(many), wrongHeaders('at most 64 headers', 65)],
    [
      'headers that are too long together',
      named(heavy),
      wrongHeaders('at most 32768 bytes of headers', 40_010),
    ],
    [
      'a header value that is too long',
      named({ note: 'x'.repeat(8193) }),
      wrongHeaders('header values of at most 8192 bytes', 8193),
    ],
    [
      'a header name that is too long',
      named({ ['secret'.repeat(30)]: '1' }),
      wrongHeaders('header names of at most 128 bytes', 180),
    ],
    [
      'a list that fits as a list and not as text',
      named({ note: Array.from({ length: 1000 }, () => 123_456_789) }),
      wrongHeaders('header values of at most 8192 bytes', 10_001),
    ],
    [
      'bytes that fit as bytes and not as text',
      named({ note: new Uint8Array(8000).fill(0xff) }),
      wrongHeaders('header values of at most 8192 bytes', 10_670),
    ],
    [
      'a header name with NUL',
      named({ 'secret\0': '1' }),
      wrongHeaders('header names that are not empty, of well-formed text without NUL', 7),
    ],
    [
      'a header without a name',
      named({ '': 'secret' }),
      wrongHeaders('header names that are not empty, of well-formed text without NUL', 0),
    ],
    [
      'a header value with a lone surrogate',
      named({ note: 'secret\ud800' }),
      wrongHeaders('header values of well-formed text without NUL', 7),
    ],
    [
      'a correlation id with a lone surrogate',
      named({ 'correlation-id': 'secret\ud800' }),
      wrongHeader('correlation-id', storable, 7),
    ],
    [
      'a key of the broker that is too long',
      { ...named({}), orderingKey: 'secret'.repeat(100) },
      wrongHeader('litebus-ordering-key', storable, 600),
    ],
    [
      'a header that is too deep',
      named({ note: [[[[['secret']]]]] }),
      wrongHeaders('headers nested at most 4 deep', 5),
    ],
  ]
  it.each(cases)(
    'by %s is discarded with what was wrong, writes nothing, and the next one is accepted',
    async (_name, sent, wrong) => {
      const parts = bench()
      const subject = parts.ingress({ maxMessageBytes: 2000 })
      parts.put(sent)
      parts.order('good')
      await subject.start()
      await parts.clock.advance(1)
      expect(subject.counts()).toMatchObject({ discarded: 1, acked: 1, inFlight: 0 })
      expect(parts.logged.find(({ fields }) => fields.eventId === 3005)?.fields).toEqual({
        eventId: 3005,
        source: 'billing',
        terminal: 'discarded',
        ...wrong,
      })
      expect(JSON.stringify(parts.logged)).not.toContain('secret')
      expect(await parts.rows()).toHaveLength(1)
      await subject.stop()
    },
  )

  it.each<[string, Sent['headers'], object]>([
    ['a tenant that is too long', { 'tenant-id': 'x'.repeat(129) }, { header: 'tenant-id', found: 129 }],
    [
      'a key with a lone surrogate',
      { 'litebus-idempotency-key': 'secret\ud800' },
      { header: 'litebus-idempotency-key', found: 7 },
    ],
  ])('by %s of a trusted publisher says so', async (_name, headers, wrong) => {
    const parts = bench()
    const subject = parts.ingress({ trustApplicationHeaders: true })
    parts.put(named({ 'litebus-message-id': 'a', ...headers }))
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 1, inFlight: 0 })
    expect(parts.logged.find(({ fields }) => fields.eventId === 3005)?.fields).toMatchObject({
      reason: 'headers',
      ...wrong,
    })
    await subject.stop()
  })

  it('by its authorization says so, within an invocation wrapper too', async () => {
    const parts = bench()
    const subject = parts.ingress({
      authorizeDelivery({ messageId }) {
        if (messageId !== 'thrown') return false
        throw new InboxIngressError('x', { deliveryFault: { part: 'identity', found: 3 } })
      },
    })
    parts.order('refused', 'thrown')
    await subject.start()
    await parts.clock.advance(1)
    const fields = parts.logged.filter(({ fields: { eventId } }) => eventId === 3005)
    expect(fields).toHaveLength(2)
    expect(fields.map((line) => line.fields)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ reason: 'authorization' }),
        expect.objectContaining({ reason: 'identity', found: 3 }),
      ]),
    )
    await subject.stop()
  })

  it.each<[string, unknown, object]>([
    ['another part', { part: 'secret', found: 1 }, {}],
    ['no part', undefined, {}],
    ['a header of its own', { part: 'headers', header: 'secret', found: 1 }, { reason: 'headers', found: 1 }],
    ['values of other types', { part: 'size', expected: 1, found: 'secret' }, { reason: 'size' }],
    [
      'long words',
      { part: 'size', expected: 'x'.repeat(5000) },
      { reason: 'size', expected: 'x'.repeat(120) },
    ],
  ])('as somebody says who names %s is logged within bounds', async (_name, deliveryFault, wrong) => {
    const parts = bench()
    parts.before = () => {
      throw Object.assign(new InboxIngressError('secret'), { deliveryFault })
    }
    const subject = parts.ingress()
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    const fields = { eventId: 3005, source: 'billing', terminal: 'discarded', code: 'INBOX_INGRESS_REFUSED' }
    expect(parts.logged.find(({ fields: { eventId } }) => eventId === 3005)?.fields).toEqual({
      ...fields,
      ...wrong,
    })
    await subject.stop()
  })

  it.each(['{"id":"1"}', '{"id":"1"} '])(
    'with the limit of 10 bytes, %p is accepted only if it fits',
    async (text) => {
      const parts = bench()
      const subject = parts.ingress({ maxMessageBytes: 10 })
      parts.put({ messageId: 'a', body: new TextEncoder().encode(text) })
      await subject.start()
      await parts.clock.advance(1)
      expect(subject.counts()).toMatchObject(text.length === 10 ? { acked: 1 } : { discarded: 1 })
      await subject.stop()
    },
  )
})
