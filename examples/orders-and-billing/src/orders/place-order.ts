import type { Outbox } from '@litebus/core'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import type { Pool } from 'pg'
import { orderPlaced, type Order } from '../contracts.ts'
import { inTransaction } from '../service/in-transaction.ts'

/** Creates the table of the order service. */
export async function createOrderTable(pool: Pool): Promise<void> {
  await pool.query(`create table if not exists orders (
    order_id text primary key,
    placed_at timestamptz not null default now()
  )`)
}

/** What became of an order. */
export type Placement =
  { readonly outcome: 'placed'; readonly messageId: string } | { readonly outcome: 'known' }

/**
 * Writes the order and its message in one transaction: both exist, or neither does. The message carries the bytes
 * that the client sent, unchanged.
 */
export async function placeOrder(
  order: Order,
  body: Uint8Array,
  { pool, outbox }: { readonly pool: Pool; readonly outbox: Outbox<PostgresTransaction> },
): Promise<Placement> {
  return inTransaction(pool, async (client) => {
    const inserted = await client.query('insert into orders (order_id) values ($1) on conflict do nothing', [
      order.orderId,
    ])
    if (inserted.rowCount === 0) return { outcome: 'known' }
    const { id } = await outbox.enqueue(orderPlaced, order, { transaction: client, body })
    return { outcome: 'placed', messageId: id }
  })
}
