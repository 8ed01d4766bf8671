import { describe, expect, it } from '@jest/globals'
import { idOfDelivery } from '@litebus/core'
import { bench, contractHeaders, type Sent } from './arrange.ts'
import type { IngressOptions } from '../src/index.ts'

async function accepted(sent: readonly Sent[], options: Partial<IngressOptions> = {}) {
  const parts = bench()
  const subject = parts.ingress(options)
  parts.put(...sent)
  await subject.start()
  await parts.clock.advance(1)
  await subject.stop()
  return { counts: subject.counts(), rows: await parts.rows() }
}

const withId = (id: string, more: Sent['headers'] = {}): Sent => ({
  messageId: id,
  headers: { ...contractHeaders, ...more },
})

describe('the identity of a delivery', () => {
  it('is the id of the broker, scoped by the source', async () => {
    const { rows } = await accepted([withId('a'), withId('a'), withId('b')])
    expect(rows.map(({ message }) => [message.id, message.sourceId, message.idempotencyKey])).toEqual([
      [idOfDelivery('billing', 'a'), 'a', 'ingress:billing:a'],
      [idOfDelivery('billing', 'b'), 'b', 'ingress:billing:b'],
    ])
  })

  it('is never that of a delivery of another source, whatever characters names and ids are made of', async () => {
    const parts = bench([{ name: 'billing:eu' }])
    const deliver = async (source: string, sequence: number, id: string): Promise<unknown> => {
      const subject = parts.ingress({ source })
      const body = new TextEncoder().encode(JSON.stringify({ id: source }))
      parts.broker.internals
        .queue(source)
        ?.put({ sequence, deliveries: 0, message: { body, headers: contractHeaders, messageId: id } })
      await subject.start()
      await parts.clock.advance(1)
      await subject.stop()
      return subject.counts()
    }
    expect(await deliver('billing', 1, 'eu:7')).toMatchObject({ acked: 1 })
    expect(await deliver('billing:eu', 2, '7')).toMatchObject({ acked: 1, discarded: 0 })
    expect(await deliver('billing:eu', 3, '7')).toMatchObject({ acked: 1 })
    expect((await parts.rows()).map(({ message }) => message.id)).toEqual([
      idOfDelivery('billing', 'eu:7'),
      idOfDelivery('billing:eu', '7'),
    ])
  })

  it('with identity message is the id in the header, so that what was published again under another broker id is absorbed', async () => {
    const sent = [
      withId('broker-1', { 'litebus-message-id': 'm' }),
      withId('broker-2', { 'litebus-message-id': 'm' }),
      withId('broker-3'),
    ]
    const { rows } = await accepted(sent, { identity: 'message' })
    expect(rows.map(({ message }) => message.sourceId)).toEqual(['m', 'broker-3'])
    expect((await accepted(sent)).rows).toHaveLength(3)
  })

  it('that is missing refuses the delivery, unless requireStableIdentity is off: then duplicates are two rows', async () => {
    const sent = [{ headers: contractHeaders }, { headers: contractHeaders }]
    expect((await accepted(sent)).counts).toMatchObject({ discarded: 2 })
    const { rows } = await accepted(sent, { requireStableIdentity: false })
    expect(rows.map(({ message }) => message.sourceId)).toEqual([undefined, undefined])
  })

  it('may be as long as an id may be, whatever the name of the source', async () => {
    const parts = bench([{ name: `q${'u'.repeat(250)}` }])
    const source = `q${'u'.repeat(250)}`
    const subject = parts.ingress({ source })
    parts.broker.internals.queue(source)?.put({
      sequence: 1,
      deliveries: 0,
      message: {
        ...withId('x'.repeat(400)),
        body: new TextEncoder().encode('{"id":"1"}'),
        headers: contractHeaders,
      },
    })
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 1 })
    await subject.stop()
  })
})

describe('headers of the publisher', () => {
  const claimed = {
    'litebus-message-id': 'm',
    'litebus-idempotency-key': 'key',
    'tenant-id': 'tenant',
    'correlation-id': 'c',
    'causation-id': 'd',
    'litebus-ordering-key': 'k',
  }

  it('do not decide about id, key and tenant by default', async () => {
    const { rows } = await accepted([withId('a', claimed)])
    expect(rows[0]?.message).toMatchObject({
      id: idOfDelivery('billing', 'a'),
      idempotencyKey: 'ingress:billing:a',
      correlationId: 'c',
      causationId: 'd',
      orderingKey: 'k',
    })
    expect(rows[0]?.message.tenantId).toBeUndefined()
  })

  it('decide about them where they are trusted', async () => {
    const { rows } = await accepted([withId('a', claimed)], { trustApplicationHeaders: true })
    expect(rows[0]?.message).toMatchObject({
      id: idOfDelivery('billing', 'm'),
      sourceId: 'm',
      idempotencyKey: 'key',
      tenantId: 'tenant',
    })
  })

  it('of one trusted key are one row', async () => {
    const sent = [
      withId('a', { ...claimed, 'litebus-message-id': 'm1' }),
      withId('b', { ...claimed, 'litebus-message-id': 'm2' }),
    ]
    const { rows, counts } = await accepted(sent, { trustApplicationHeaders: true })
    expect([rows.length, counts.acked]).toEqual([1, 2])
  })
})

describe('what is written', () => {
  it('is the body byte for byte, with the headers of the application as text', async () => {
    const body = new TextEncoder().encode('{ "id" : "Ω" ,"big":12345678901234567890}')
    const { rows } = await accepted([
      { ...withId('a', { note: 'n', count: 7, list: ['x', 1], 'x-death': 'broker' }), body },
    ])
    expect(rows[0]?.message.body).toEqual(body)
    expect(rows[0]?.message.headers).toEqual({ note: 'n', count: '7', list: '["x",1]' })
  })

  it.each<[string, Sent['headers'], object]>([
    ['a legacy correlation id', { CorrelationId: 'c' }, { correlationId: 'c' }],
    ['bytes', { 'correlation-id': new TextEncoder().encode('c') }, { correlationId: 'c' }],
    ['a number', { 'correlation-id': 42 }, { correlationId: '42' }],
    [
      'a trace',
      { traceparent: '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01' },
      { trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } },
    ],
  ])('understands %s', async (_name, headers, expected) => {
    const { rows } = await accepted([withId('a', headers)])
    expect(rows[0]?.message).toMatchObject(expected)
  })

  it.each<[string, Sent]>([
    ['a malformed trace', withId('a', { traceparent: 'x', tracestate: 'y' })],
    [
      'baggage that no store keeps',
      withId('a', {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        baggage: 'a\0b',
      }),
    ],
    ['an empty ordering key of the broker', { ...withId('a'), orderingKey: '' }],
    ['a malformed time', withId('a', { 'litebus-visible-after': 'tomorrow' })],
    ['the zero date of another platform', withId('a', { 'litebus-visible-after': '0001-01-01T00:00:00Z' })],
    ['a malformed delay', withId('a', { 'litebus-visible-after-delay': '-5' })],
  ])('is not stopped by %s', async (_name, sent) => {
    const { rows } = await accepted([sent])
    expect(rows).toHaveLength(1)
    expect(rows[0]?.dueAt?.getTime() ?? 0).toBeLessThanOrEqual(Date.UTC(2026, 0, 1) + 1)
  })

  it('becomes due when the headers say, the delay before the time', async () => {
    const at = '2026-01-01T01:00:00Z'
    const { rows } = await accepted([
      withId('a', { 'litebus-visible-after': at }),
      withId('b', { 'litebus-visible-after': at, 'litebus-visible-after-delay': 'PT5S' }),
    ])
    expect(rows.map(({ dueAt }) => dueAt?.toISOString())).toEqual([
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T00:00:05.000Z',
    ])
  })
})
