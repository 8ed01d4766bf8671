import { describe, expect, it } from '@jest/globals'
import { openIngress } from '../ingress/open-ingress.ts'
import { ordersIn } from '../ingress/tested-stores.ts'
import { startWorker } from '../processes/worker-process.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { openSource } from '../transports/open-source.ts'
import { testedTransports } from '../transports/tested-transports.ts'
import type { IngressSettings, IngressStep } from '../workers/ingress-settings.ts'
import { workerEnvironment } from '../workers/worker-settings.ts'

const orders = Array.from({ length: 20 }, (_, index) => `order-${String(index).padStart(2, '0')}`)

/** Whether the dead process leaves rows, and whether the broker has heard of any of them. */
const steps: readonly { readonly step: IngressStep; readonly writes: boolean; readonly hears: boolean }[] = [
  { step: 'before the store has anything', writes: false, hears: false },
  { step: 'after the commit, before the broker hears of it', writes: true, hears: false },
  { step: 'after the broker has heard of the first one', writes: true, hears: true },
]
const modes = [
  { mode: 'one by one', batchSize: 1 },
  { mode: 'in batches', batchSize: 6 },
]

await describeTransports(
  'a process that dies by SIGKILL while it takes deliveries into its inbox',
  ({ address, withPath }) => {
    describe.each(modes)('$mode', ({ batchSize }) => {
      it.each(steps)(
        '$step loses nothing, and each message is one row',
        ({ step, writes, hears }) =>
          withPath(async (path) => {
            const { storage, databaseUrl, fixture } = path
            const { target, order } = await openSource(path)
            for (const id of orders) await order(id)
            const settings: IngressSettings = {
              address: address(),
              source: target.source,
              databaseUrl,
              batchSize,
              step,
            }
            const worker = path.scope.use(await startWorker('ingress-worker', workerEnvironment(settings)))
            expect(await worker.ended).toBe('SIGKILL')
            const left = await ordersIn(storage.inbox)
            expect(left.length).toBeGreaterThanOrEqual(writes ? batchSize : 0)
            expect(left.length).toBeLessThanOrEqual(writes ? orders.length - 1 : 0)

            const next = await openIngress(path, {
              source: target,
              batch: { enabled: batchSize > 1, size: batchSize },
            })
            await next.ingress.start()
            await eventually(
              async () => {
                expect(await ordersIn(storage.inbox)).toEqual(orders)
                expect(await fixture.count(target.source)).toBe(0)
                expect(next.ingress.counts().inFlight).toBe(0)
              },
              { expectation: 'the next process to take what is left', timeoutMs: 30_000 },
            )
            const { deliveries, acked } = next.ingress.counts()
            expect(acked).toBe(deliveries)
            // What the broker has not heard of comes again, and meets the rows that are there.
            expect(deliveries).toBeGreaterThanOrEqual(orders.length - (hears ? left.length : 0))
            expect(deliveries).toBeLessThanOrEqual(orders.length)
          }),
        60_000,
      )
    })
  },
  testedTransports.filter(({ remote }) => remote),
)
