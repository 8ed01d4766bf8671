import { expect } from '@jest/globals'
import type { DeliveryStopReport } from '@litebus/consumer'
import { eventually } from '../services/index.ts'
import type { MessagePath } from '../transports/message-path.ts'
import { openConsumer, type OpenConsumer } from './open-consumer.ts'

/** What a stop may take beyond its budget: closing a channel is not part of it. */
const closingMs = 2000

/** Waits until the consumer holds something. */
export async function untilHeld({ consumer }: OpenConsumer, inFlight: number): Promise<void> {
  await eventually(
    () => {
      expect(consumer.counts()).toMatchObject({ inFlight })
    },
    { expectation: `${String(inFlight)} in flight` },
  )
}

/** The ledger of a report adds up, and its time stays within the budget. */
export function expectSound({ settlements, elapsedMs }: DeliveryStopReport, budgetMs: number): void {
  const { deliveries, inFlight, ...terminals } = settlements
  expect(Object.values(terminals).reduce((sum, count) => sum + count, inFlight)).toBe(deliveries)
  expect(elapsedMs).toBeLessThanOrEqual(budgetMs + closingMs)
}

/** The next consumer gets exactly these orders. */
export async function expectRedelivered(
  path: MessagePath,
  { target }: OpenConsumer,
  ids: readonly string[],
): Promise<void> {
  const handled: string[] = []
  const next = await openConsumer(path, {
    source: target,
    handle: ({ id }) => {
      handled.push(id)
    },
  })
  await next.consumer.start()
  await eventually(
    async () => {
      expect(next.consumer.counts()).toMatchObject({ acked: ids.length, inFlight: 0 })
      expect(await path.fixture.count(target.source)).toBe(0)
    },
    { expectation: `${String(ids.length)} orders to come again` },
  )
  expect(handled.toSorted()).toEqual(ids.toSorted())
}
