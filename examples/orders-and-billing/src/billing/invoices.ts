import { defineTransactionalHandler, type AnyMessageHandler } from '@litebus/core'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import type { Pool } from 'pg'
import { orderPlaced } from '../contracts.ts'

/**
 * Creates the tables of the billing service. `invoices` has no unique key on purpose: a message that were handled
 * twice would show. `handler_runs` counts how often the handler began, outside of its transaction.
 */
export async function createBillingTables(pool: Pool): Promise<void> {
  await pool.query(`create table if not exists invoices (
    invoice_id bigint generated always as identity primary key,
    message_id uuid not null,
    order_id text not null,
    issued_at timestamptz not null default now()
  )`)
  await pool.query(`create table if not exists handler_runs (
    message_id uuid not null,
    attempt integer not null,
    began_at timestamptz not null default now()
  )`)
}

/** Issues one invoice an order, in the transaction that completes the message. */
export function invoiceHandler(pool: Pool): AnyMessageHandler<PostgresTransaction> {
  return defineTransactionalHandler({
    contract: orderPlaced,
    name: 'issue-invoice',
    async handle(order, { messageId, attempt, transaction }: InvoiceContext) {
      await pool.query('insert into handler_runs (message_id, attempt) values ($1, $2)', [messageId, attempt])
      await transaction.query('insert into invoices (message_id, order_id) values ($1, $2)', [
        messageId,
        order.orderId,
      ])
    },
  })
}

interface InvoiceContext {
  readonly messageId: string
  readonly attempt: number
  readonly transaction: PostgresTransaction
}
