import { createHost, type Host } from '@litebus/host'
import { createInbox, createInboxProcessor } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { postgresStorage } from '@litebus/storage-postgres'
import { amqpTransport } from '@litebus/transport-amqp'
import fastify from 'fastify'
import { orderPlaced } from '../contracts.ts'
import { readConfig } from '../service/config.ts'
import { addHealth, httpPart } from '../service/http-part.ts'
import { jsonLogger } from '../service/json-logger.ts'
import { openPool } from '../service/open-pool.ts'
import { runService } from '../service/run-service.ts'
import { createBillingTables, invoiceHandler } from './invoices.ts'

const config = readConfig(process.env, 3002)
const logger = jsonLogger('billing')
const pool = openPool({ url: config.databaseUrl, max: 20, logger })

const storage = postgresStorage({ pool, schema: 'billing_messages', logger })
const discarded = `${config.queue}.discarded`
const broker = amqpTransport({
  url: config.amqpUrl,
  topology: {
    queues: [
      { name: config.queue, kind: 'quorum' },
      { name: discarded, kind: 'quorum' },
    ],
  },
  logger,
})
const ingress = createIngress({
  transport: broker,
  source: config.queue,
  inbox: createInbox({ store: storage.inbox, contracts: [orderPlaced] }),
  contracts: [orderPlaced],
  probe: () => storage.inbox.probe(),
  onDiscard: { deadLetter: discarded },
  identity: 'message',
  maxMessageBytes: 1024 * 1024,
  logger,
})
const worker = createInboxProcessor({
  store: storage.inbox,
  handlers: [invoiceHandler(pool)],
  leaseMs: config.leaseMs,
  heartbeatMs: config.leaseMs / 4,
  logger,
})
const app = fastify()
const host: Host = createHost({
  shutdownBudgetMs: config.shutdownMs,
  logger,
  parts: [
    {
      name: 'database',
      start: async () => {
        await createBillingTables(pool)
        await storage.schema.migrate()
      },
      stop: async () => {
        await storage.close()
        await pool.end()
      },
      probe: () => storage.inbox.probe(),
    },
    { name: 'broker', stop: () => broker.close(), probe: () => broker.probe(config.queue) },
    {
      name: 'worker',
      start: worker.start,
      stop: (budget) => worker.stop(budget),
      probe: () => worker.probe(),
    },
    {
      name: 'ingress',
      start: () => ingress.start(),
      stop: (budget) => ingress.stop(budget),
      probe: () => ingress.probe(),
    },
    httpPart(app, config.port, logger),
  ],
})
addHealth(app, () => host)
await runService(host, logger)
