import type { Outbox } from '@litebus/core'
import { orderPlaced } from '@litebus/example-orders-and-billing/contracts'
import { createOrderTable, placeOrder } from '@litebus/example-orders-and-billing/place-order'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import type { Pool } from 'pg'
import type { SampleOrder } from './sample-orders.ts'

/** Places all orders, and one whose transaction is rolled back; answers the message ids by order. */
export async function placeAll(
  pool: Pool,
  outbox: Outbox<PostgresTransaction>,
  orders: readonly SampleOrder[],
): Promise<ReadonlyMap<string, string>> {
  await createOrderTable(pool)
  const ids = new Map<string, string>()
  for (const { orderId, body } of orders) {
    const placement = await placeOrder({ orderId }, body, { pool, outbox })
    if (placement.outcome === 'placed') ids.set(orderId, placement.messageId)
  }
  await rollBackOne(pool, outbox)
  return ids
}

async function rollBackOne(pool: Pool, outbox: Outbox<PostgresTransaction>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query("insert into orders (order_id) values ('order-rolled-back')")
    await outbox.enqueue(orderPlaced, { orderId: 'order-rolled-back' }, { transaction: client })
    await client.query('rollback')
  } finally {
    client.release()
  }
}
