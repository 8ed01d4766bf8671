import { defineTransactionalHandler, reject, type HandlerResult } from '@litebus/core'
import { orderPlaced, type Order } from '@litebus/example-orders-and-billing/contracts'
import { createInboxProcessor } from '@litebus/inbox'
import { postgresStorage, type PostgresTransaction } from '@litebus/storage-postgres'
import pg from 'pg'
import { demo } from './demo-settings.ts'

/** What a worker tells the process that started it. */
export type WorkerNews =
  { readonly kind: 'ready' } | { readonly kind: 'began'; readonly orderId: string; readonly attempt: number }

const tell = (news: WorkerNews): void => {
  process.send?.(news)
}
const { DATABASE_URL: connectionString, HANG_ON: hangOn, KNOWS_CURRENCY: known } = process.env
const pool = new pg.Pool({ connectionString, max: 12 })
pool.on('error', () => undefined)
const storage = postgresStorage({ pool, schema: 'quickstart_billing' })

interface Context {
  readonly messageId: string
  readonly attempt: number
  readonly transaction: PostgresTransaction
}

async function issueInvoice(
  order: Order,
  { messageId, attempt, transaction }: Context,
): Promise<HandlerResult> {
  tell({ kind: 'began', orderId: order.orderId, attempt })
  if (order['currency'] !== undefined && order['currency'] !== known)
    return reject({ code: 'UNKNOWN_CURRENCY' })
  await transaction.query(
    'insert into quickstart_effects (message_id, order_id, attempt) values ($1, $2, $3)',
    [messageId, order.orderId, attempt],
  )
  // Stands for a slow call in the middle of the work; the process is killed while it waits here.
  if (order.orderId === hangOn) await new Promise(() => setInterval(() => undefined, 1000))
  return undefined
}

const processor = createInboxProcessor({
  store: storage.inbox,
  handlers: [
    defineTransactionalHandler({ contract: orderPlaced, name: 'issue-invoice', handle: issueInvoice }),
  ],
  leaseMs: demo.leaseMs,
  heartbeatMs: demo.leaseMs / 4,
  pollMs: 100,
})
process.once('SIGTERM', () => {
  void processor.stop({ graceMs: 2000 }).then(async () => {
    await storage.close()
    await pool.end()
    process.exit(0)
  })
})
// Whoever started this process is gone: nobody would end it any more.
process.once('disconnect', () => process.exit(1))
processor.start()
tell({ kind: 'ready' })
