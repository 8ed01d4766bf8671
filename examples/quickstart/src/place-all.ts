import type { Outbox } from '@litebus/core'
import { orderPlaced } from '@litebus/example-orders-and-billing/contracts'
import { createOrderTable, placeOrder } from '@litebus/example-orders-and-billing/place-order'
import { inTransaction } from '@litebus/example-orders-and-billing/in-transaction'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import type { Pool } from 'pg'
import type { SampleOrder } from './sample-orders.ts'

/** The orders that were placed, and the one that was not. */
export interface PlacedOrders {
  /** Message id by order. */
  readonly ids: ReadonlyMap<string, string>
  /** Id of the message whose transaction was rolled back. */
  readonly rolledBack: string
}

/** Places all orders, and one whose transaction is rolled back. */
export async function placeAll(
  pool: Pool,
  outbox: Outbox<PostgresTransaction>,
  orders: readonly SampleOrder[],
): Promise<PlacedOrders> {
  await createOrderTable(pool)
  const ids = new Map<string, string>()
  for (const { orderId, body } of orders) {
    const placement = await placeOrder({ orderId }, body, { pool, outbox })
    if (placement.outcome === 'placed') ids.set(orderId, placement.messageId)
  }
  return { ids, rolledBack: await rollBackOne(pool, outbox) }
}

async function rollBackOne(pool: Pool, outbox: Outbox<PostgresTransaction>): Promise<string> {
  const cancelled = new Error('the order was cancelled')
  let messageId = ''
  try {
    await inTransaction(pool, async (client) => {
      await client.query("insert into orders (order_id) values ('order-rolled-back')")
      const order = { orderId: 'order-rolled-back' }
      messageId = (await outbox.enqueue(orderPlaced, order, { transaction: client })).id
      throw cancelled
    })
  } catch (error) {
    if (error !== cancelled) throw error
  }
  return messageId
}
