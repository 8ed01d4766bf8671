/* Producers and processors on one database, in a process of their own; keeps a ledger of everything that happens. */
import { setTimeout as delay } from 'node:timers/promises'
import { defineHandler, uuidV7, type LogFields, type NewMessage } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { job } from './job.ts'
import { OutageLedger } from './outage-ledger.ts'

const { url = '', leaseMs = 0 } = JSON.parse(process.env['WORKER'] ?? '{}') as Partial<{
  readonly url: string
  readonly leaseMs: number
}>
const ledger = new OutageLedger()
process.on('unhandledRejection', (error) => ledger.unhandled.push(String(error)))
process.on('uncaughtException', (error) => ledger.unhandled.push(String(error)))

const log = (message: string, fields: LogFields = {}): void => {
  const processor = String(fields['processor'] ?? 'storage')
  ledger.lines.push({ atMs: performance.now(), processor, message })
}
const logger = { debug: log, info: log, warn: log, error: log }
const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 1000 })
pool.on('error', () => undefined)
const storage = postgresStorage({
  pool,
  schema: 'load',
  logger,
  connectTimeoutMs: 1000,
  statementTimeoutMs: 1000,
})
await storage.schema.migrate()

const tuning = { leaseMs, heartbeatMs: leaseMs / 5, pollMs: 200, logger }
const inbox = createInboxProcessor({
  ...tuning,
  store: storage.inbox,
  handlers: [
    defineHandler({
      contract: job,
      name: 'run-job',
      handle: (_message, { messageId }) => {
        ledger.handled(messageId)
      },
    }),
  ],
})
const outbox = createOutboxProcessor({
  ...tuning,
  store: storage.outbox,
  dispatcher: {
    dispatch({ message }) {
      ledger.handled(message.id)
      return { kind: 'succeeded' }
    },
  },
})

let producing = true
function aMessage(orderingKey: string | undefined): NewMessage {
  const message = {
    id: uuidV7(),
    contractName: job.name,
    contractVersion: job.version,
    body: Buffer.from('{"does":"finish"}'),
  }
  return orderingKey === undefined ? message : { ...message, orderingKey }
}

/* The state of the business and the message in one transaction; a failed commit leaves its outcome unknown. */
async function writeWithBusiness(message: NewMessage): Promise<void> {
  const client = await pool.connect()
  let fault: Error | undefined
  const onError = (error: Error): void => {
    fault = error
  }
  client.on('error', onError)
  try {
    await client.query('begin')
    await client.query('insert into business (id) values ($1)', [message.id])
    await storage.inbox.append([message], { transaction: client })
    await client.query('commit')
  } catch (error) {
    fault ??= error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.off('error', onError)
    client.release(fault)
  }
}

async function produce(orderingKey: string | undefined, write: (message: NewMessage) => Promise<unknown>) {
  while (producing) {
    const message = aMessage(orderingKey)
    ledger.started(message.id, orderingKey)
    try {
      await write(message)
      ledger.accepted(message.id)
    } catch {
      ledger.refused += 1
      await delay(20)
    }
    await delay(5)
  }
}

inbox.start()
outbox.start()
const producers = [
  produce(undefined, writeWithBusiness),
  produce('first', writeWithBusiness),
  produce('second', writeWithBusiness),
  produce(undefined, (message) => storage.outbox.append([message])),
  produce('third', (message) => storage.outbox.append([message])),
]
process.on('message', (question) => {
  if (question === 'stop producing') producing = false
  const answered = producing ? Promise.resolve([]) : Promise.all(producers)
  const healthy = storage.inbox.probe().then(
    () => true,
    () => false,
  )
  void Promise.all([healthy, answered]).then(([isHealthy]) =>
    process.send?.({ ...ledger.report(), isHealthy }),
  )
})
process.once('SIGTERM', () => {
  producing = false
  void Promise.all([inbox.stop(), outbox.stop(), ...producers]).then(async () => {
    await storage.close()
    await pool.end()
    process.disconnect()
  })
})
process.send?.('ready')
