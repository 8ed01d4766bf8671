import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { HeaderValue } from '@litebus/core'
import { bench, contractHeaders, type Order, type Sent } from './arrange.ts'

/** Deliveries: 100 000 in the long mode, enough to find what is common otherwise. */
const runs = process.env.LITEBUS_LONG === undefined ? 150 : 5000
const perRun = 20
const marker = 'sEcReTpAyLoAd'

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }))
const value: fc.Arbitrary<HeaderValue> = fc.oneof(
  text,
  fc.constantFrom(
    '1',
    '2',
    '0',
    '-1',
    '1e3',
    'order-placed',
    'PT5S',
    '0001-01-01',
    'x'.repeat(9000),
    `${marker}\0`,
    `${marker}\ud800`,
    marker.repeat(100),
    '\0',
    '\ud800',
  ),
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 30 }),
  fc.date({ noInvalidDate: false }),
  fc.letrec<{ tree: HeaderValue }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 7 },
      text,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.string({ maxLength: 8 }), tie('tree'), { maxKeys: 4 }),
    ),
  })).tree,
)
const name = fc.oneof(
  text,
  fc.constantFrom(
    'litebus-message-id',
    'litebus-contract-name',
    'litebus-contract-version',
    'Litebus-Contract-Version',
    'correlation-id',
    'CorrelationId',
    'tenant-id',
    'litebus-idempotency-key',
    'litebus-ordering-key',
    'litebus-visible-after',
    'litebus-visible-after-delay',
    'litebus-trace-context',
    'traceparent',
    'tracestate',
    'baggage',
    'msg.retry-attempt',
    'x-death',
    '__proto__',
    'constructor',
  ),
)
const body = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.json({ maxDepth: 3 }).map((json) => new TextEncoder().encode(json)),
  fc
    .constantFrom('{"id":"1"}', '{"id":7}', '', 'null', `{"id":7,"x":"${marker}"}`, `${marker}{`)
    .map((json) => new TextEncoder().encode(json)),
)
const delivery: fc.Arbitrary<Sent> = fc
  .record({
    body,
    valid: fc.boolean(),
    headers: fc.dictionary(name, value, { maxKeys: 12 }),
    messageId: fc.option(text, { nil: undefined }),
    orderingKey: fc.option(text, { nil: undefined }),
  })
  .map(({ valid, headers, messageId, orderingKey, ...rest }) => ({
    ...rest,
    headers: valid ? { ...headers, ...contractHeaders } : headers,
    ...(messageId === undefined ? {} : { messageId }),
    ...(orderingKey === undefined ? {} : { orderingKey }),
  }))

describe('whatever is delivered', () => {
  it('nothing crashes the loop, reaches the store unvalidated, or is logged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(delivery, { minLength: perRun, maxLength: perRun }),
        fc.record({
          trustApplicationHeaders: fc.boolean(),
          requireStableIdentity: fc.boolean(),
          batch: fc.record({ enabled: fc.boolean(), size: fc.constant(5) }),
        }),
        async (deliveries, options) => {
          const parts = bench()
          const subject = parts.ingress({ ...options, maxMessageBytes: 100 })
          parts.put(...deliveries)
          await subject.start()
          await parts.clock.advance(500)
          const counts = subject.counts()
          expect(counts).toMatchObject({ returned: 0, unresolved: 0, pending_redelivery: 0, inFlight: 0 })
          expect(counts.acked + counts.discarded).toBe(perRun)
          for (const { message } of await parts.rows()) {
            const order = JSON.parse(new TextDecoder().decode(message.body)) as Order
            expect(typeof order.id).toBe('string')
            expect([message.contractName, message.contractVersion]).toEqual(['order-placed', 1])
          }
          expect(JSON.stringify(parts.logged)).not.toContain(marker)
          for (const { fields } of parts.logged.filter((line) => line.fields.eventId === 3005)) {
            // What the store refuses is a conflict of ids; everything else is named.
            expect(fields.code === 'IDEMPOTENCY_CONFLICT' || fields.reason !== undefined).toBe(true)
          }
          expect(parts.logged.filter(({ message }) => message.includes('unexpectedly'))).toEqual([])
          await subject.stop()
        },
      ),
      { numRuns: runs },
    )
  }, 600_000)
})
