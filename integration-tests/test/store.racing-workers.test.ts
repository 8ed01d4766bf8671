import { expect, it } from '@jest/globals'
import { defineHandler, uuidV7 } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'
import { job } from '../workers/job.ts'

const rows = process.env['LITEBUS_LONG'] === '1' ? 20_000 : 2000

await describeWithServices('eight workers that race', ['postgres'], ({ postgres }) => {
  it.each([
    { kind: 'without ordering keys', keys: 0 },
    { kind: 'with 50 ordering keys', keys: 50 },
  ])(
    `over ${String(rows)} messages $kind run each once and bring each to one terminal state`,
    async ({ keys }) => {
      await using scope = new AsyncDisposableStack()
      const database = scope.use(await postgres.createDatabase())
      const pool = new pg.Pool({ connectionString: database.url, max: 16 })
      scope.defer(() => pool.end())
      const open = () => scope.use(postgresStorage({ pool, schema: 'race', listen: false }))
      const storage = open()
      await storage.schema.migrate()
      const ids: string[] = []
      for (let part = 0; part < rows; part += 1000) {
        const batch = Array.from({ length: Math.min(1000, rows - part) }, (_, index) => ({
          id: uuidV7(),
          contractName: job.name,
          contractVersion: job.version,
          body: Buffer.from('{"does":"finish"}'),
          ...(keys === 0 ? {} : { orderingKey: `key ${String(index % keys)}` }),
        }))
        ids.push(...batch.map(({ id }) => id))
        await storage.inbox.append(batch)
      }

      const runs = new Map<string, number>()
      const byWorker = new Map<number, number>()
      const workers = Array.from({ length: 8 }, (_, worker) =>
        createInboxProcessor({
          store: open().inbox,
          batchSize: 50,
          pollMs: 50,
          handlers: [
            defineHandler({
              contract: job,
              name: 'run-job',
              handle(_message, { messageId }) {
                runs.set(messageId, (runs.get(messageId) ?? 0) + 1)
                byWorker.set(worker, (byWorker.get(worker) ?? 0) + 1)
              },
            }),
          ],
        }),
      )
      for (const worker of workers) worker.start()
      await eventually(
        async () => {
          expect(await storage.inbox.statusCounts()).toMatchObject({
            awaiting: 0,
            leased: 0,
            retryScheduled: 0,
          })
        },
        { expectation: 'everything to be done', timeoutMs: 100_000 },
      )
      const reports = await Promise.all(workers.map((worker) => worker.stop()))
      expect(reports.filter(({ graceful }) => !graceful)).toEqual([])
      expect(byWorker.size).toBeGreaterThan(1)
      expect(runs.size).toBe(rows)
      expect([...runs.values()].filter((count) => count !== 1)).toEqual([])

      const { rows: ends } = await pool.query<{ id: string; n: number }>(
        `select m.id::text, (select count(*) from race.inbox_done d where d.seq = m.seq)::int
          + (select count(*) from race.inbox_dead d where d.seq = m.seq)::int
          + (select count(*) from race.inbox_queue q where q.seq = m.seq)::int as n
        from race.inbox_message m`,
      )
      expect(ends.filter(({ n }) => n !== 1)).toEqual([])
      expect(new Set(ends.map(({ id }) => id))).toEqual(new Set(ids))
    },
    120_000,
  )
})
