import { describe, expect, it } from '@jest/globals'
import { manualClock, type ManualClock } from '@litebus/conformance'
import {
  defineContract,
  defineHandler,
  idOfDelivery,
  retry,
  type HandlerContext,
  type HandlerResult,
} from '@litebus/core'
import { createInbox, createInboxProcessor } from '@litebus/inbox'
import { createIngress, type Ingress } from '@litebus/ingress'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import type { Processor } from '@litebus/processing'
import { memoryStorage, type MemoryStorage } from '@litebus/storage-memory'
import { memoryBroker, memoryTransport, type MemoryBroker } from '@litebus/transport-memory'

interface Order {
  readonly id: string
}
const orderPlaced = defineContract<Order>({ name: 'order-placed', version: 1 })
const invoiceIssued = defineContract<Order>({ name: 'invoice-issued', version: 1 })
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

interface Path {
  readonly clock: ManualClock
  readonly storage: MemoryStorage
  readonly broker: MemoryBroker
  readonly ingress: Ingress
  readonly relay: Processor
  readonly worker: Processor
  readonly handled: { readonly order: Order; readonly context: HandlerContext }[]
  readonly outbox: ReturnType<typeof createOutbox>
}

interface PathOptions {
  readonly handle?: (order: Order, context: HandlerContext, parts: Path) => Promise<HandlerResult>
  /** Loses the first settle of the relay, as a connection does that breaks after the publish. */
  readonly loseFirstSettle?: boolean
}

/** Orders and billing in one process: outbox, broker, ingress, inbox, handler. */
function path({ handle, loseFirstSettle = false }: PathOptions = {}): Path {
  const clock = manualClock()
  const storage = memoryStorage({ clock })
  const broker = memoryBroker({ clock, queues: [{ name: 'billing' }] })
  const transport = memoryTransport({ broker })
  const handled: Path['handled'] = []
  let toLose = loseFirstSettle ? 1 : 0
  const relayStore: typeof storage.outbox = {
    ...storage.outbox,
    settle: (outcomes) =>
      toLose-- > 0 ? Promise.reject(new Error('connection reset')) : storage.outbox.settle(outcomes),
  }
  const parts: Path = {
    clock,
    storage,
    broker,
    handled,
    outbox: createOutbox({
      store: storage.outbox,
      contracts: [orderPlaced, invoiceIssued],
    }),
    relay: createOutboxProcessor({
      store: relayStore,
      leaseMs: 1000,
      heartbeatMs: 400,
      transport,
      routing: { resolve: () => ({ destination: 'billing' }) },
      contracts: ['order-placed'],
      clock,
    }),
    ingress: createIngress({
      transport,
      source: 'billing',
      inbox: createInbox({ store: storage.inbox, contracts: [orderPlaced] }),
      contracts: [orderPlaced],
      identity: 'message',
      clock,
    }),
    worker: createInboxProcessor({
      store: storage.inbox,
      handlers: [
        defineHandler({
          contract: orderPlaced,
          async handle(order, context) {
            handled.push({ order, context })
            return handle?.(order, context, parts)
          },
        }),
      ],
      backoff: { jitter: 'none' },
      clock,
    }),
  }
  return parts
}

describe('outbox to broker to ingress to inbox to handler', () => {
  it('carries a message once, with its body, trace and correlation', async () => {
    const { clock, handled, ingress, outbox, relay, storage, worker } = path()
    const { id } = await outbox.enqueue(
      orderPlaced,
      { id: 'Ω-1' },
      { correlationId: 'c', trace: { traceparent } },
    )
    await ingress.start()
    await relay.processPending()
    await clock.advance(1)
    expect((await worker.processPending()).succeeded).toBe(1)
    expect(handled).toHaveLength(1)
    expect(handled[0]?.order).toEqual({ id: 'Ω-1' })
    expect(handled[0]?.context).toMatchObject({
      messageId: idOfDelivery('billing', id),
      attempt: 1,
      correlationId: 'c',
      trace: { traceparent },
      headers: {},
    })
    expect((await storage.outbox.get(id))?.state).toBe('succeeded')
    expect(ingress.counts()).toMatchObject({ deliveries: 1, acked: 1, inFlight: 0 })
  })

  it('absorbs what the relay publishes again after its settle was lost', async () => {
    const { clock, handled, ingress, outbox, relay, storage, worker } = path({ loseFirstSettle: true })
    const { id } = await outbox.enqueue(orderPlaced, { id: '1' })
    await ingress.start()
    expect((await relay.processPending()).persistFailed).toBe(1)
    await clock.advance(1100)
    expect((await relay.processPending()).succeeded).toBe(1)
    await clock.advance(1)
    expect(ingress.counts()).toMatchObject({ deliveries: 2, acked: 2 })
    expect((await worker.processPending()).leased).toBe(1)
    expect(handled).toHaveLength(1)
    expect((await storage.outbox.get(id))?.state).toBe('succeeded')
  })

  it('runs a handler again after it failed, and what it sends keeps its identity', async () => {
    const sent: string[] = []
    const handle: PathOptions['handle'] = async (order, context, parts) => {
      const receipt = await parts.outbox.enqueue(invoiceIssued, order, { from: context })
      sent.push(`${receipt.outcome} ${receipt.id}`)
      return context.attempt === 1 ? retry({ code: 'LATER', afterMs: 50 }) : undefined
    }
    const { clock, ingress, outbox, relay, worker, storage } = path({ handle })
    await outbox.enqueue(orderPlaced, { id: '1' }, { correlationId: 'c', tenantId: 't' })
    await ingress.start()
    await relay.processPending()
    await clock.advance(1)
    expect((await worker.processPending()).failed).toBe(1)
    await clock.advance(50)
    expect((await worker.processPending()).succeeded).toBe(1)
    const [first = '', second = ''] = sent
    expect(first.startsWith('enqueued ')).toBe(true)
    expect(second).toBe(first.replace('enqueued', 'alreadyEnqueued'))
    const invoice = await storage.outbox.get(first.replace('enqueued ', ''))
    expect(invoice?.message).toMatchObject({ correlationId: 'c', contractName: 'invoice-issued' })
  })

  it('writes nothing when the transaction of the caller is rolled back', async () => {
    const { clock, ingress, outbox, relay, storage, handled } = path()
    const transaction = storage.begin()
    await outbox.enqueue(orderPlaced, { id: '1' }, { transaction })
    transaction.rollback()
    await ingress.start()
    expect((await relay.processPending()).leased).toBe(0)
    await clock.advance(1)
    expect(handled).toEqual([])
  })
})
