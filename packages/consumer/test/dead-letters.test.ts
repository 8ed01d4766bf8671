import { describe, expect, it } from '@jest/globals'
import { PayloadError, reject, retry, type HandlerReturn } from '@litebus/core'
import { bench, contractHeaders, done, type Sent } from './arrange.ts'

const secret = 'hunter2'

describe('dead-letter copies', () => {
  it.each<[string, () => HandlerReturn]>([
    [
      'in the text of an error',
      () => {
        throw new Error(`password=${secret}`)
      },
    ],
    [
      'in a cause and in the name of an error',
      () => {
        throw Object.assign(new Error('x', { cause: new Error(secret) }), { name: secret })
      },
    ],
    [
      'in the text of an error of ours, as a validator may quote it',
      () => {
        throw new PayloadError(`expected something else, found ${secret}`)
      },
    ],
    [
      'in a thrown string',
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- what users throw is not ours to choose
        throw secret
      },
    ],
    ['beside the code of a result', () => ({ ...reject({ code: 'NEVER' }), detail: secret })],
  ])('carry no secret that stands %s', async (_name, handle) => {
    const { clock, consumer, logged, order, waiting } = bench()
    const subject = consumer(handle)
    order('a')
    await subject.start()
    await clock.advance(1)
    const [dead] = waiting('orders.dead')
    expect(JSON.stringify(dead?.headers).toLowerCase()).not.toContain(secret)
    expect(JSON.stringify(logged).toLowerCase()).not.toContain(secret)
    await subject.stop()
  })

  it.each([
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'set-cookie',
    'X-Api-Key',
    'api_key',
    'x-auth-token',
    'X-Amz-Security-Token',
    'x-access-key',
    'db-password',
    'client-secret',
    'x-credentials',
    'accessToken',
    'x-auth',
    'jwt',
    'private-key',
    'x-session-id',
    'x-signature',
    'connection-string',
    'dsn',
    'x-otp',
    'x-pin',
    'sas-url',
  ])('leave out header %s', async (name) => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    put({
      messageId: 'a',
      headers: { ...contractHeaders, [name]: secret, note: 'kept', tokens: '3', 'x-spin': '7' },
    })
    await subject.start()
    await clock.advance(1)
    const [dead] = waiting('orders.dead')
    expect(Object.values(dead?.headers ?? {})).not.toContain(secret)
    expect(dead?.headers).toMatchObject({ note: 'kept', tokens: '3', 'x-spin': '7' })
    await subject.stop()
  })

  it('carry body, id and headers of the original unchanged, and nothing but the reserved headers beside', async () => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(() => reject({ code: 'NEVER' }))
    const body = new TextEncoder().encode('{ "id" : "Ω" ,"big":12345678901234567890}')
    const headers = {
      ...contractHeaders,
      'litebus-ordering-key': 'k',
      'correlation-id': 'c',
      'x-death': 'broker',
      'x-delivery-count': 3,
    }
    put({ messageId: 'a', contentType: 'application/vnd.x+json', body, headers })
    await subject.start()
    await clock.advance(1)
    const [dead] = waiting('orders.dead')
    expect(dead).toMatchObject({ messageId: 'a', contentType: 'application/vnd.x+json' })
    expect(dead?.body).toEqual(body)
    const at = new Date(clock.now() - 1).toISOString()
    expect(dead?.headers).toEqual({
      ...contractHeaders,
      'litebus-ordering-key': 'k',
      'correlation-id': 'c',
      'msg.failure-category': 'REJECTED',
      'msg.failure-code': 'NEVER',
      'msg.origin-destination': 'orders',
      'msg.retry-attempt': '1',
      'msg.first-failure-at': at,
      'msg.last-failure-at': at,
    })
    await subject.stop()
  })
})

describe('hops into places that deduplicate', () => {
  const places = ['orders', 'orders.retry', 'orders.dead'].map((name) => ({ name, deduplicate: true }))

  it('are each taken once: none is swallowed, and none is doubled when its confirm was lost', async () => {
    const { broker, clock, consumer, order, waiting } = bench(places)
    const subject = consumer(() => retry({ code: 'LATER' }), {
      retry: {
        mode: 'retryDestination',
        ordering: 'allowReorder',
        retryDestination: 'orders',
        deadLetterDestination: 'orders.dead',
        maxAttempts: 3,
        backoff: { initialDelayMs: 0 },
      },
    })
    // Stored, and the confirm lost: the same hop is published again.
    broker.faults.failNextPublish({ status: 'ambiguous', stored: true })
    order('a')
    await subject.start()
    await clock.advance(1000)
    broker.faults.failNextPublish({ status: 'ambiguous', stored: true })
    order('b')
    await clock.advance(1000)
    expect(subject.counts()).toMatchObject({ deliveries: 6, acked_retry: 4, acked_dead_letter: 2 })
    expect(waiting('orders.dead').map(({ messageId }) => messageId)).toEqual(['a', 'b'])
    await subject.stop()
  })
})

describe('deliveries that cannot be read', () => {
  const cases: readonly [string, Sent, string][] = [
    ['without contract headers', { headers: {} }, 'INBOX_INGRESS_REFUSED'],
    [
      'with a contract version that is no number',
      { headers: { ...contractHeaders, 'litebus-contract-version': 'one' } },
      'INBOX_INGRESS_REFUSED',
    ],
    [
      'with a malformed retry header',
      { headers: { ...contractHeaders, 'msg.retry-attempt': '-1' } },
      'FORMAT_INVALID',
    ],
    [
      'with a malformed first failure',
      { headers: { ...contractHeaders, 'msg.first-failure-at': 'yesterday' } },
      'INBOX_INGRESS_REFUSED',
    ],
    [
      'with a first failure that is a bare number',
      { headers: { ...contractHeaders, 'msg.first-failure-at': '5' } },
      'INBOX_INGRESS_REFUSED',
    ],
    [
      'with too many headers',
      {
        headers: {
          ...contractHeaders,
          ...Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`h${String(n)}`, 'v'])),
        },
      },
      'INBOX_INGRESS_REFUSED',
    ],
    [
      'with a header that is too long',
      { headers: { ...contractHeaders, long: 'x'.repeat(8193) } },
      'INBOX_INGRESS_REFUSED',
    ],
    [
      'with headers nested too deep',
      { headers: { ...contractHeaders, deep: [[[[[['x']]]]]] } },
      'INBOX_INGRESS_REFUSED',
    ],
  ]
  it.each(cases)('%s are parked as they came, with listed headers only', async (_name, sent, code) => {
    const { clock, consumer, put, seen, waiting } = bench()
    const subject = consumer(done)
    const body = new TextEncoder().encode('not json')
    put({ messageId: 'a', body, ...sent, headers: { ...sent.headers, app: 'dropped' } })
    await subject.start()
    await clock.advance(1)
    expect(seen).toEqual([])
    const [dead] = waiting('orders.dead')
    expect(dead).toMatchObject({
      messageId: 'a',
      headers: { 'msg.failure-category': 'VALIDATION', 'msg.failure-code': code, 'msg.retry-attempt': '1' },
    })
    expect(dead?.body).toEqual(body)
    expect(Object.keys(dead?.headers ?? {}).filter((name) => !/^(litebus-|msg\.)/.test(name))).toEqual([])
    expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, inFlight: 0 })
    await subject.stop()
  })

  it('keep their contract headers, so that they can be told apart', async () => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(done)
    put({ messageId: 'a', headers: { ...contractHeaders, long: 'x'.repeat(9000) } })
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead')).toMatchObject([{ headers: contractHeaders }])
    await subject.stop()
  })

  it.each([['a body that is no JSON', 'not json', 'PAYLOAD_INVALID', 'DESERIALIZATION']])(
    '%s is parked with its headers',
    async (_name, text, code, category) => {
      const { clock, consumer, put, waiting } = bench()
      const subject = consumer(done)
      put({
        messageId: 'a',
        body: new TextEncoder().encode(text),
        headers: { ...contractHeaders, note: 'kept' },
      })
      await subject.start()
      await clock.advance(1)
      expect(waiting('orders.dead')).toMatchObject([
        { headers: { note: 'kept', 'msg.failure-code': code, 'msg.failure-category': category } },
      ])
      await subject.stop()
    },
  )

  it('an unknown contract is parked', async () => {
    const { clock, consumer, put, waiting } = bench()
    const subject = consumer(done)
    put({ messageId: 'a', headers: { ...contractHeaders, 'litebus-contract-name': 'other' } })
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead')).toMatchObject([
      { headers: { 'msg.failure-code': 'CONTRACT_NOT_REGISTERED' } },
    ])
    await subject.stop()
  })

  it('without any id are not taken for one another by a place that deduplicates', async () => {
    const { clock, consumer, put, waiting } = bench([{ name: 'orders.dead', deduplicate: true }])
    const subject = consumer(done)
    put({ headers: {} }, { headers: {} }, { messageId: 'x'.repeat(513), headers: {} })
    await subject.start()
    await clock.advance(1)
    expect(waiting('orders.dead')).toHaveLength(3)
    await subject.stop()
  })
})
