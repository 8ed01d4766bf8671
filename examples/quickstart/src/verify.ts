import { idOfDelivery, type MessageStore } from '@litebus/core'
import type { Pool } from 'pg'
import type { SampleOrder } from './sample-orders.ts'

/** What the table of effects says about the orders. */
export interface EffectCounts {
  /** Messages in the inbox. */
  readonly rows: number
  /** Rows of the table. */
  readonly effects: number
  /** Rows beyond the first of a message, and those of no order. */
  readonly repeated: number
  /** Orders without a row. */
  readonly lost: number
  /** Messages that a later attempt completed. */
  readonly recovered: number
}

/** Counts effects against the orders that were placed. */
export async function countEffects(pool: Pool, orders: readonly SampleOrder[]): Promise<EffectCounts> {
  const { rows } = await pool.query<{ order_id: string; message_id: string; attempt: number }>(
    'select order_id, message_id, attempt from quickstart_effects',
  )
  const placed = new Set(orders.map(({ orderId }) => orderId))
  const done = new Set(rows.filter(({ order_id }) => placed.has(order_id)).map(({ order_id }) => order_id))
  const messages = new Set(rows.map(({ message_id }) => message_id))
  return {
    rows: messages.size,
    effects: rows.length,
    repeated: rows.length - done.size,
    lost: placed.size - done.size,
    recovered: rows.filter(({ attempt }) => attempt > 1).length,
  }
}

/** How many messages in the inbox have byte for byte the body that was enqueued. */
export async function identicalBodies(
  inbox: Pick<MessageStore, 'get'>,
  idsByOrder: ReadonlyMap<string, string>,
  { orders, source }: { readonly orders: readonly SampleOrder[]; readonly source: string },
): Promise<number> {
  let identical = 0
  for (const { orderId, body } of orders) {
    const record = await inbox.get(idOfDelivery(source, idsByOrder.get(orderId) ?? ''))
    if (record !== undefined && body.equals(record.message.body)) identical += 1
  }
  return identical
}

/** How many of the messages whose transaction was rolled back are in no outbox, as it must be. */
export async function countRolledBack(
  outbox: Pick<MessageStore, 'get'>,
  ids: readonly string[],
): Promise<number> {
  const records = await Promise.all(ids.map((id) => outbox.get(id)))
  return records.filter((record) => record === undefined).length
}
