/* A worker in a process of its own: handles inbox messages, writes down every run of a handler, ends as it is told. */
import { defineHandler } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { job, workerSettings } from './job.ts'

const { url, schema, name, waits, tuning } = workerSettings(process.env)
const pool = new pg.Pool({ connectionString: url, max: 10 })
pool.on('error', () => undefined)
const storage = postgresStorage({ pool, schema })

/* Handlers that wait go on when the process that started this one says so. */
const { promise: told, resolve: goOn } = Promise.withResolvers<unknown>()
process.once('message', goOn)

const processor = createInboxProcessor({
  ...tuning,
  store: storage.inbox,
  pollMs: 100,
  handlers: [
    defineHandler({
      contract: job,
      name: 'run-job',
      async handle({ does }, { messageId, attempt }) {
        await pool.query('insert into runs (message_id, attempt, worker) values ($1, $2, $3)', [
          messageId,
          attempt,
          name,
        ])
        if (does === 'kill the process') process.kill(process.pid, 'SIGKILL')
        if (does === 'hang' && attempt === 1) await new Promise(() => setInterval(() => undefined, 1000))
        if (waits) await told
        await pool.query(
          'update runs set ended = true where message_id = $1 and attempt = $2 and worker = $3',
          [messageId, attempt, name],
        )
      },
    }),
  ],
})
process.once('SIGTERM', () => {
  void processor.stop({ graceMs: 60_000 }).then(async () => {
    await storage.close()
    await pool.end()
    process.disconnect()
  })
})
processor.start()
process.send?.('ready')
