import { createHost, type Host } from '@litebus/host'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import { amqpTransport } from '@litebus/transport-amqp'
import { orderPlaced } from '../contracts.ts'
import { readConfig } from '../service/config.ts'
import { addHealth, httpPart } from '../service/http-part.ts'
import { jsonLogger } from '../service/json-logger.ts'
import { publishTwice } from '../service/publish-twice.ts'
import { openPool } from '../service/open-pool.ts'
import { runService } from '../service/run-service.ts'
import { orderApp } from './order-app.ts'
import { createOrderTable } from './place-order.ts'

const config = readConfig(process.env, 3001)
const logger = jsonLogger('orders')
const pool = openPool({ url: config.databaseUrl, max: 10, logger })

const storage = postgresStorage({ pool, schema: 'orders_messages', logger })
const broker = amqpTransport({
  url: config.amqpUrl,
  topology: { queues: [{ name: config.queue, kind: 'quorum' }] },
  logger,
})
const outbox = createOutbox({ store: storage.outbox, contracts: [orderPlaced] })
const relay = createOutboxProcessor({
  store: storage.outbox,
  transport: config.publishTwice ? publishTwice(broker) : broker,
  routing: { resolve: () => ({ destination: config.queue }) },
  leaseMs: config.leaseMs,
  heartbeatMs: config.leaseMs / 4,
  logger,
})
const app = orderApp({ pool, outbox })
const host: Host = createHost({
  shutdownBudgetMs: config.shutdownMs,
  logger,
  parts: [
    {
      name: 'database',
      start: async () => {
        await createOrderTable(pool)
        await storage.schema.migrate()
      },
      stop: async () => {
        await storage.close()
        await pool.end()
      },
      probe: () => storage.outbox.probe(),
    },
    { name: 'broker', stop: () => broker.close(), probe: () => broker.probe(config.queue) },
    { name: 'relay', start: relay.start, stop: (budget) => relay.stop(budget), probe: () => relay.probe() },
    httpPart(app, config.port, logger),
  ],
})
addHealth(app, () => host)
await runService(host, logger)
