import { describe, expect, it } from '@jest/globals'
import { InboxStorageError, StoreUnavailableError } from '@litebus/core'
import {
  openIngress,
  type InboxStore,
  type OpenIngress,
  type OpenIngressOptions,
} from '../ingress/open-ingress.ts'
import { ordersIn, testedStores } from '../ingress/tested-stores.ts'
import { eventually } from '../services/index.ts'
import { withDeliveries } from '../transports/altered-transport.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import type { MessagePath } from '../transports/message-path.ts'

const never = 600_000
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `order-${String(index).padStart(2, '0')}`)

interface Batches extends OpenIngress {
  /** Ids of each write that began, in order. */
  readonly writes: (readonly string[])[]
}

/** An ingress that accepts in batches, in front of some orders. */
async function openBatches(
  path: MessagePath,
  inboxStore: InboxStore,
  { orders, before, ...options }: OpenIngressOptions & { readonly orders: readonly string[] },
): Promise<Batches> {
  const writes: (readonly string[])[] = []
  const subject = await openIngress(path, {
    inboxStore,
    maxInFlightMessages: 50,
    before: async (ids) => {
      writes.push(ids)
      await before?.(ids)
    },
    ...options,
  })
  for (const id of orders) await subject.order(id)
  return { ...subject, writes }
}

async function expectCounts(
  { ingress }: Pick<OpenIngress, 'ingress'>,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  await eventually(
    () => {
      expect(ingress.counts()).toMatchObject(counts)
    },
    { expectation: JSON.stringify(counts) },
  )
}

await describeTransports('accepting in batches', ({ withPath }) => {
  describe.each(testedStores)('with the $name store', ({ open }) => {
    it('writes whenever a batch is full, and holds what does not fill one', () =>
      withPath(async (path) => {
        const store = open(path)
        const batch = { enabled: true, size: 5, maxWaitMs: never }
        const subject = await openBatches(path, store, { orders: names(12), batch })
        await subject.ingress.start()
        await expectCounts(subject, { acked: 10, inFlight: 2 })
        expect(subject.writes.map(({ length }) => length)).toEqual([5, 5])
        expect(await ordersIn(store)).toHaveLength(10)
      }))

    it('writes what does not fill a batch once it has waited long enough', () =>
      withPath(async (path) => {
        const store = open(path)
        const batch = { enabled: true, size: 50, maxWaitMs: 500 }
        const subject = await openBatches(path, store, { orders: names(12), batch })
        await subject.ingress.start()
        await expectCounts(subject, { acked: 12, inFlight: 0 })
        expect(Math.max(...subject.writes.map(({ length }) => length))).toBeGreaterThan(1)
        expect(await ordersIn(store)).toEqual(names(12))
      }))

    it('writes what does not fill a batch when it stops', () =>
      withPath(async (path) => {
        const store = open(path)
        const batch = { enabled: true, size: 50, maxWaitMs: never }
        const subject = await openBatches(path, store, { orders: names(7), batch })
        await subject.ingress.start()
        await expectCounts(subject, { inFlight: 7 })
        expect(subject.writes).toEqual([])
        const report = await subject.ingress.stop({ budgetMs: 10_000 })
        expect(report).toMatchObject({
          outcome: 'graceful',
          settlements: { deliveries: 7, acked: 7, inFlight: 0 },
        })
        expect(subject.writes.map(({ length }) => length)).toEqual([7])
        expect(await ordersIn(store)).toEqual(names(7))
        await eventually(
          async () => {
            expect(await path.fixture.count(subject.target.source)).toBe(0)
          },
          { expectation: 'nothing to be left at the broker' },
        )
      }))

    it('loses nothing of 50 to one that the store refuses, and discards that one alone', () =>
      withPath(async (path) => {
        const store = open(path)
        const poison = 'order-25'
        const subject = await openBatches(path, store, {
          orders: names(50),
          batch: { enabled: true, size: 50, maxWaitMs: never },
          before: (ids) => {
            if (ids.includes(poison)) throw new InboxStorageError('no')
          },
        })
        await subject.ingress.start()
        await expectCounts(subject, { deliveries: 50, acked: 49, discarded: 1, returned: 0, inFlight: 0 })
        expect(subject.writes.map(({ length }) => length)).toEqual([50, ...names(50).map(() => 1)])
        expect(subject.events()).toEqual([3003, 3006, 3005])
        expect(await ordersIn(store)).toEqual(names(50).filter((id) => id !== poison))
        await eventually(
          async () => {
            expect(await path.fixture.count(subject.target.source)).toBe(0)
          },
          { expectation: 'the 49 to be settled' },
        )
      }))

    it.each([
      ['an outage', () => new StoreUnavailableError('the answer was lost')],
      ['a fault', () => new Error('read EIO')],
      ['a refusal', () => new InboxStorageError('no')],
    ])('duplicates and loses nothing when a flush ends in %s after the store had committed', (_name, fail) =>
      withPath(async (path) => {
        const store = open(path)
        let failed = 0
        const subject = await openBatches(path, store, {
          orders: names(10),
          batch: { enabled: true, size: 5, maxWaitMs: 2000 },
          after: (ids) => {
            if (ids.length > 1 && failed++ === 0) throw fail()
          },
        })
        await subject.ingress.start()
        await expectCounts(subject, { deliveries: 10, acked: 10, discarded: 0, returned: 0, inFlight: 0 })
        expect(failed).toBeGreaterThan(0)
        expect(await ordersIn(store)).toEqual(names(10))
      }),
    )

    it('settles each delivery of a batch on its own', () =>
      withPath(async (path) => {
        const store = open(path)
        let refused = 0
        const subject = await openBatches(path, store, {
          orders: names(6),
          batch: { enabled: true, size: 6, maxWaitMs: 200 },
          wrap: (transport) =>
            withDeliveries(transport, (delivery) => ({
              ...delivery,
              accept() {
                const own = Buffer.from(delivery.message.body).includes('order-03')
                return own && refused++ === 0 ? Promise.resolve('notSent') : delivery.accept()
              },
            })),
        })
        await subject.ingress.start()
        await eventually(
          () => {
            const { acked, returned, deliveries, inFlight } = subject.ingress.counts()
            expect([deliveries, inFlight, returned >= 1]).toEqual([acked + returned, 0, true])
            expect(acked).toBe(6)
          },
          { expectation: 'the one to come again' },
        )
        expect(await ordersIn(store)).toEqual(names(6))
      }))

    it('stops while a flush is under way, and accepts or returns each of it', () =>
      withPath(async (path) => {
        const store = open(path)
        const { promise: end, resolve } = Promise.withResolvers<undefined>()
        const subject = await openBatches(path, store, {
          orders: names(40),
          maxInFlightMessages: 8,
          batch: { enabled: true, size: 6, maxWaitMs: never },
          after: () => end,
        })
        await subject.ingress.start()
        await eventually(
          async () => {
            expect(subject.ingress.counts().inFlight).toBe(8)
            expect(await ordersIn(store)).toHaveLength(6)
          },
          { expectation: 'six to be written, and two to wait for a batch' },
        )
        const stopped = subject.ingress.stop({ budgetMs: 10_000 })
        resolve(undefined)
        const report = await stopped
        const { deliveries, inFlight, ...terminals } = report.settlements
        expect(report).toMatchObject({ outcome: 'graceful', unresolved: [], unsettled: 0 })
        expect(inFlight).toBe(0)
        expect(Object.values(terminals).reduce((sum, count) => sum + count, 0)).toBe(deliveries)
        expect(terminals.acked).toBeGreaterThanOrEqual(8)
        expect(await ordersIn(store)).toHaveLength(terminals.acked)
        const next = await openIngress(path, { source: subject.target, inboxStore: store })
        await next.ingress.start()
        await eventually(
          async () => {
            expect(await ordersIn(store)).toEqual(names(40))
          },
          { expectation: 'the rest to be taken by the next one' },
        )
      }))
  })
})
