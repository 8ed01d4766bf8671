import { describe, expect, it } from '@jest/globals'
import { bench, orderPlaced } from './arrange.ts'

describe('a message goes', () => {
  it('to the queue of its contract name, unless it has a topic', async () => {
    const { outbox, relay, waiting } = bench()
    await outbox.enqueue(orderPlaced, { id: '1' })
    await outbox.enqueue(orderPlaced, { id: '2' }, { topic: 'other' })
    expect((await relay().processPending()).succeeded).toBe(2)
    expect([waiting('orders').length, waiting('other').length]).toEqual([1, 1])
  })

  it('where the resolver says, and where it says nothing to topic or contract', async () => {
    const { outbox, relay, waiting } = bench()
    await outbox.enqueue(orderPlaced, { id: '1' }, { headers: { to: 'other' }, topic: 'orders' })
    await outbox.enqueue(orderPlaced, { id: '2' }, { topic: 'other' })
    const resolve = ({ headers }: { readonly headers?: Readonly<Record<string, string>> }) =>
      headers?.to === undefined ? undefined : { destination: headers.to }
    await relay({ routing: { resolve } }).processPending()
    expect(waiting('other')).toHaveLength(2)
  })

  it('through an exchange with a routing key', async () => {
    const { broker, outbox, relay, waiting } = bench()
    broker.declareExchange({ name: 'events', bindings: [{ routingKey: 'placed', queue: 'other' }] })
    await outbox.enqueue(orderPlaced, { id: '1' })
    await relay({
      routing: { resolve: () => ({ destination: 'events', routingKey: 'placed' }) },
    }).processPending()
    expect(waiting('other')).toHaveLength(1)
  })

  it('to the destination of its tenant, if it has one', async () => {
    const { outbox, relay, waiting } = bench([{ name: 'orders' }, { name: 'acme.orders' }])
    await outbox.enqueue(orderPlaced, { id: '1' }, { tenantId: 'acme' })
    await outbox.enqueue(orderPlaced, { id: '2' })
    const forTenant = (route: { readonly destination: string }, tenantId: string) => ({
      destination: `${tenantId}.${route.destination}`,
    })
    await relay({ routing: { forTenant } }).processPending()
    expect([waiting('acme.orders').length, waiting('orders').length]).toEqual([1, 1])
  })

  it('nowhere when the resolver throws: that is a failure of this message alone', async () => {
    const { outbox, relay, stands } = bench()
    const bad = await outbox.enqueue(orderPlaced, { id: '1' }, { topic: 'bad' })
    const good = await outbox.enqueue(orderPlaced, { id: '2' })
    const summary = await relay({
      routing: {
        resolve({ topic }) {
          if (topic === 'bad') throw new Error('no route')
          return undefined
        },
      },
    }).processPending()
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 })
    expect([await stands(bad.id), await stands(good.id)]).toEqual(['retryScheduled 1', 'succeeded 1'])
  })
})

describe('what is published', () => {
  it('is the body byte for byte, with the headers of the wire and those of the application', async () => {
    const { outbox, relay, transport } = bench()
    const body = new TextEncoder().encode('{ "id" : "Ω" }')
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const receipt = await outbox.enqueue(
      orderPlaced,
      { id: 'Ω' },
      {
        body,
        headers: { note: 'n' },
        tenantId: 't',
        orderingKey: 'k',
        correlationId: 'c',
        causationId: 'd',
        trace: { traceparent },
        idempotency: { key: 'i' },
      },
    )
    await relay({ contentType: 'application/vnd.orders+json' }).processPending()
    expect(transport.calls[0]?.[0]).toEqual({
      destination: 'orders',
      messageId: receipt.id,
      deduplicationId: receipt.id,
      orderingKey: 'k',
      contentType: 'application/vnd.orders+json',
      body,
      headers: {
        note: 'n',
        'litebus-message-id': receipt.id,
        'litebus-contract-name': 'orders',
        'litebus-contract-version': '1',
        'correlation-id': 'c',
        'causation-id': 'd',
        'tenant-id': 't',
        'litebus-idempotency-key': 'i',
        'litebus-ordering-key': 'k',
        traceparent,
        'litebus-trace-context': traceparent,
      },
    })
  })

  it('travels in one call of the transport for everything that is due', async () => {
    const { outbox, relay, transport } = bench()
    const items = Array.from({ length: 100 }, (_, index) => ({
      contract: orderPlaced,
      message: { id: String(index) },
    }))
    await outbox.enqueueBatch(items)
    expect((await relay().processPending()).succeeded).toBe(100)
    expect(transport.calls.map((call) => call.length)).toEqual([100])
  })
})
