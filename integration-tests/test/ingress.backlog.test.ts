import { expect, it } from '@jest/globals'
import { defineHandler, type Delivery, type MessageStore } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { openIngress, type OpenIngress } from '../ingress/open-ingress.ts'
import { openFragileStore } from '../ingress/store-outages.ts'
import { eventually, type TcpProxy } from '../services/index.ts'
import { withDeliveries } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { orderPlaced, type MessagePath } from '../transports/message-path.ts'

const messages = 300
const high = 40
const low = 10
const maxInFlight = 4
const concurrency = 2
const batchSize = 10
/* Between a count that finds too many and the pause, what is in flight gets in, and what comes in one interval. */
const overshoot = 100

async function pendingIn(store: Pick<MessageStore, 'statusCounts'>): Promise<number> {
  const { awaiting, leased, retryScheduled } = await store.statusCounts()
  return awaiting + leased + retryScheduled
}

interface Watched extends OpenIngress {
  /** Most deliveries that were held at a time. */
  readonly mostHeld: () => number
}

/** An ingress that looks at its backlog often, in front of more messages than it may take. */
async function openWatched(path: MessagePath): Promise<Watched> {
  let held = 0
  let mostHeld = 0
  const subject = await openIngress(path, {
    maxInFlightMessages: maxInFlight,
    backlog: { high, low, intervalMs: 5, pendingCount: () => pendingIn(path.storage.inbox) },
    wrap: (transport) =>
      withDeliveries(transport, (delivery) => {
        held += 1
        mostHeld = Math.max(mostHeld, held)
        return {
          ...delivery,
          accept() {
            held -= 1
            return delivery.accept()
          },
        }
      }),
  })
  for (let index = 0; index < messages; index++) await subject.order(`order-${String(index)}`)
  return { ...subject, mostHeld: () => mostHeld }
}

/** A processor of the inbox that ends with the path. */
function openWorker(
  path: MessagePath,
  handle: () => Promise<undefined> | undefined,
): ReturnType<typeof createInboxProcessor> {
  const worker = createInboxProcessor({
    store: path.storage.inbox,
    handlers: [defineHandler({ contract: orderPlaced, handle })],
    concurrency,
    batchSize,
    pollMs: 20,
    graceMs: 1000,
  })
  path.scope.defer(async () => {
    await worker.stop()
  })
  return worker
}

await describeTransports('back-pressure of ingress', ({ withPath }) => {
  it('stops intake above high, holds it still, and goes on below low until everything is handled', () =>
    withPath(async (path) => {
      const subject = await openWatched(path)
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.pausedBy).toEqual(['backlog'])
          expect(subject.ingress.counts().inFlight).toBe(0)
        },
        { expectation: 'intake to stand still' },
      )
      const stored = subject.ingress.counts().acked
      expect(stored).toBeGreaterThan(high)
      expect(stored).toBeLessThanOrEqual(high + overshoot)
      expect(await path.inboxRows()).toHaveLength(stored)
      let handled = 0
      const worker = openWorker(path, () => {
        handled += 1
        return undefined
      })
      worker.start()
      await eventually(
        async () => {
          expect(subject.ingress.counts()).toMatchObject({ acked: messages, returned: 0, discarded: 0 })
          expect(await pendingIn(path.storage.inbox)).toBe(0)
        },
        { expectation: 'everything to be handled', timeoutMs: 30_000 },
      )
      expect(handled).toBe(messages)
      expect(subject.mostHeld()).toBeLessThanOrEqual(maxInFlight)
    }))

  it('keeps everything bounded behind a handler that never finishes, and loses nothing', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      let running = 0
      let handled = 0
      const worker = openWorker(path, async () => {
        running += 1
        await end
        handled += 1
        return undefined
      })
      const subject = await openWatched(path)
      worker.start()
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.pausedBy).toEqual(['backlog'])
          expect(subject.ingress.counts().inFlight).toBe(0)
          expect(running).toBe(concurrency)
        },
        { expectation: 'handlers at work and intake standing still' },
      )
      const { acked, deliveries } = subject.ingress.counts()
      expect(acked).toBeLessThanOrEqual(high + overshoot)
      expect(deliveries).toBe(acked)
      // Rows leased ahead of the handlers, deliveries held, and what the broker keeps: each has its bound.
      const { leased } = await path.storage.inbox.statusCounts()
      expect(leased).toBeLessThanOrEqual(2 * batchSize + concurrency)
      expect(subject.mostHeld()).toBeLessThanOrEqual(maxInFlight)
      await eventually(
        async () => {
          const waiting = await path.fixture.count(subject.target.source)
          expect(waiting).toBeGreaterThanOrEqual(messages - acked - maxInFlight)
        },
        { expectation: 'the rest to stay at the broker' },
      )
      resolve(undefined)
      await eventually(
        () => {
          expect(handled).toBe(messages)
        },
        { expectation: 'everything to be handled', timeoutMs: 30_000 },
      )
    }))

  it('holds no more deliveries and bytes than it may while the store never answers, however many wait', () =>
    withPath(async (path) => {
      const { storage, proxy } = await openFragileStore(path)
      const filler = 'x'.repeat(20_000)
      const held = new Set<Delivery>()
      let most = { deliveries: 0, bytes: 0 }
      const bytesOf = ({ message }: Delivery): number => message.body.byteLength
      const subject = await openIngress(path, {
        inboxStore: storage.inbox,
        maxInFlightMessages: maxInFlight,
        executionBudgetMs: 500,
        wrap: (transport) =>
          withDeliveries(transport, (delivery) => {
            held.add(delivery)
            const bytes = [...held].reduce((sum, each) => sum + bytesOf(each), 0)
            most = { deliveries: Math.max(most.deliveries, held.size), bytes: Math.max(most.bytes, bytes) }
            return {
              ...delivery,
              accept() {
                held.delete(delivery)
                return delivery.accept()
              },
            }
          }),
      })
      const body = Buffer.from(JSON.stringify({ id: 'x', filler }))
      for (let index = 0; index < 50; index++)
        await subject.put({ messageId: `order-${String(index)}`, body })
      proxy.stall()
      await subject.ingress.start()
      await eventually(
        () => {
          expect(subject.ingress.pausedBy).toEqual(['store'])
          expect(held.size).toBe(maxInFlight)
        },
        { expectation: 'as many held as may be' },
      )
      proxy.resume()
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ deliveries: 50, acked: 50, inFlight: 0 })
        },
        { expectation: 'everything to be accepted', timeoutMs: 30_000 },
      )
      expect(most).toEqual({ deliveries: maxInFlight, bytes: maxInFlight * body.byteLength })
      expect(await path.inboxRows()).toHaveLength(50)
    }))

  it.each<[string, (proxy: TcpProxy) => void]>([
    [
      'cannot be asked',
      (proxy) => {
        proxy.refuse()
        proxy.cut()
      },
    ],
    [
      'never answers',
      (proxy) => {
        proxy.stall()
      },
    ],
  ])('stops intake while the store %s, and goes on when its probe is green again', (_name, begin) =>
    withPath(async (path) => {
      const { storage, proxy } = await openFragileStore(path)
      const subject = await openIngress(path, {
        inboxStore: storage.inbox,
        executionBudgetMs: 500,
        backlog: { high, low, intervalMs: 20, pendingCount: () => pendingIn(storage.inbox) },
      })
      await subject.ingress.start()
      await subject.order('before')
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ acked: 1, inFlight: 0 })
        },
        { expectation: 'the first order' },
      )
      begin(proxy)
      await eventually(
        () => {
          expect(subject.ingress.pausedBy).toEqual(['backlog'])
        },
        { expectation: 'intake to stand still with nothing to take in' },
      )
      await subject.order('meanwhile')
      proxy.accept()
      proxy.resume()
      await eventually(
        () => {
          expect(subject.ingress.counts()).toMatchObject({ deliveries: 2, acked: 2, returned: 0 })
          expect(subject.ingress.pausedBy).toEqual([])
        },
        { expectation: 'intake to go on by itself' },
      )
      expect(await path.inboxRows()).toHaveLength(2)
    }),
  )
})
