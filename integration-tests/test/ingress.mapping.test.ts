import { expect, it } from '@jest/globals'
import { idOfDelivery, type HeaderValue, type NewMessage } from '@litebus/core'
import { openIngress } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, orderBody } from '../transports/message-path.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** What a publisher without LiteBus sends, by its message id, and what has to be in the row. */
const cases: Readonly<Record<string, readonly [Readonly<Record<string, HeaderValue>>, Partial<NewMessage>]>> =
  {
    ids: [
      { 'correlation-id': 'c', 'causation-id': 'd', 'litebus-ordering-key': 'k' },
      { correlationId: 'c', causationId: 'd', orderingKey: 'k' },
    ],
    legacy: [{ CorrelationId: 'legacy' }, { correlationId: 'legacy' }],
    both: [{ CorrelationId: 'legacy', 'correlation-id': 'own' }, { correlationId: 'own' }],
    bytes: [{ 'correlation-id': Buffer.from('ž') }, { correlationId: 'ž' }],
    number: [{ 'correlation-id': 42 }, { correlationId: '42' }],
    native: [{ traceparent, tracestate: 'a=b' }, { trace: { traceparent, tracestate: 'a=b' } }],
    own: [{ 'litebus-trace-context': JSON.stringify({ traceparent }) }, { trace: { traceparent } }],
    garbled: [{ traceparent: 'x', 'litebus-trace-context': '{' }, {}],
    application: [
      { note: 'n', count: 7, list: ['x', 1] },
      { headers: { note: 'n', count: '7', list: '["x",1]' } },
    ],
  }
const claims = { 'litebus-idempotency-key': 'key', 'tenant-id': 'tenant' }

await describeTransports('the mapping of headers to rows', ({ withPath }) => {
  it('reads what any publisher can send, byte for byte, and nothing that it may not decide', () =>
    withPath(async (path) => {
      const subject = await openIngress(path)
      for (const [messageId, [headers]] of Object.entries(cases)) {
        const all = { ...contractHeaders, ...headers, ...claims }
        await subject.put({ messageId, body: orderBody(messageId), headers: all })
      }
      await subject.ingress.start()
      const count = Object.keys(cases).length
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ acked: count, discarded: 0, inFlight: 0 })
        },
        { expectation: 'every delivery to be accepted' },
      )
      const rows = new Map((await path.inboxRows()).map(({ message }) => [message.sourceId, message]))
      const { source } = subject.target
      for (const [id, [, expected]] of Object.entries(cases)) {
        const row = rows.get(id)
        expect(row).toMatchObject({
          ...expected,
          id: idOfDelivery(source, id),
          idempotencyKey: `ingress:${source}:${id}`,
        })
        expect(Buffer.from(row?.body ?? [])).toEqual(Buffer.from(orderBody(id)))
        expect([row?.tenantId, row?.trace?.traceparent]).toEqual([undefined, expected.trace?.traceparent])
      }
    }))

  it('lets a trusted publisher decide about id, key and tenant', () =>
    withPath(async (path) => {
      const subject = await openIngress(path, { trustApplicationHeaders: true })
      const headers = { ...contractHeaders, ...claims, 'litebus-message-id': 'm' }
      await subject.put({ messageId: 'm', headers })
      await subject.put({ messageId: 'n', headers: { ...headers, 'litebus-message-id': 'n' } })
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ acked: 2, inFlight: 0 })
        },
        { expectation: 'both deliveries' },
      )
      // One key of one tenant is one row, whatever the ids.
      const rows = await path.inboxRows()
      expect(rows).toHaveLength(1)
      expect(rows[0]?.message).toMatchObject({ idempotencyKey: 'key', tenantId: 'tenant' })
    }))

  it('makes a message due when its headers say, the delay before the time, and ignores what cannot be read', () =>
    withPath(async (path) => {
      const subject = await openIngress(path)
      const inTwoDays = new Date(Date.now() + 48 * 3600_000).toISOString()
      const visible: Readonly<Record<string, Readonly<Record<string, HeaderValue>>>> = {
        time: { 'litebus-visible-after': inTwoDays },
        both: { 'litebus-visible-after': inTwoDays, 'litebus-visible-after-delay': 'PT1H' },
        seconds: { 'litebus-visible-after-delay': '3600' },
        words: { 'litebus-visible-after': 'tomorrow', 'litebus-visible-after-delay': 'soon' },
        zero: { 'litebus-visible-after': '0001-01-01T00:00:00Z' },
        negative: { 'litebus-visible-after-delay': '-5' },
      }
      for (const [messageId, headers] of Object.entries(visible)) {
        await subject.put({ messageId, headers: { ...contractHeaders, ...headers } })
      }
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ acked: 6, discarded: 0, inFlight: 0 })
        },
        { expectation: 'every delivery to be accepted' },
      )
      const rows = await path.inboxRows()
      const hours = rows.map(({ message: { sourceId = '' }, dueAt }): [string, number] => [
        sourceId,
        Math.max(0, Math.round(((dueAt?.getTime() ?? 0) - Date.now()) / 3600_000)),
      ])
      expect(Object.fromEntries(hours)).toEqual({
        time: 48,
        both: 1,
        seconds: 1,
        words: 0,
        zero: 0,
        negative: 0,
      })
    }))
})
