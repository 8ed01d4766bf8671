import { expect, it } from '@jest/globals'
import { createInbox } from '@litebus/inbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { startWorker, type WorkerProcess } from '../processes/worker-process.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually, type PostgresService } from '../services/index.ts'
import { environmentOf, job, type Job } from '../workers/job.ts'

const schema = 'jobs'
const tuning = { batchSize: 100, concurrency: 8, leaseMs: 2000, heartbeatMs: 500, maxAttempts: 3 }

interface Run {
  readonly message_id: string
  readonly attempt: number
  readonly worker: string
  readonly ended: boolean
}

async function bench(postgres: PostgresService, scope: AsyncDisposableStack) {
  const database = scope.use(await postgres.createDatabase())
  const pool = new pg.Pool({ connectionString: database.url, max: 4 })
  scope.defer(() => pool.end())
  const storage = scope.use(postgresStorage({ pool, schema, listen: false }))
  await storage.schema.migrate()
  await pool.query(
    'create table runs (message_id uuid, attempt int, worker text, ended boolean default false, at timestamptz default clock_timestamp())',
  )
  const inbox = createInbox({ store: storage.inbox, contracts: [job] })
  return {
    storage,
    accept: async (...jobs: readonly Job['does'][]) =>
      (await inbox.acceptBatch(jobs.map((does) => ({ contract: job, message: { does } })))).map(
        ({ id }) => id,
      ),
    start: (name: string, over: Partial<typeof tuning> & { readonly waits?: boolean } = {}) => {
      const { waits = false, ...tuned } = over
      const settings = { url: database.url, schema, name, waits, tuning: { ...tuning, ...tuned } }
      return startWorker('inbox-worker', environmentOf(settings))
    },
    runs: async () =>
      (await pool.query<Run>('select message_id, attempt, worker, ended from runs order by at')).rows,
    counts: async () => {
      const { awaiting, leased, retryScheduled, parked } = await storage.inbox.statusCounts()
      return { open: awaiting + leased + retryScheduled, parked }
    },
  }
}

await describeWithServices('workers that die', ['postgres'], ({ postgres }) => {
  it('by SIGKILL in a handler leave the message to another one, which runs it as attempt two once the lease has expired', async () => {
    await using scope = new AsyncDisposableStack()
    const { accept, counts, runs, start, storage } = await bench(postgres, scope)
    const [id = ''] = await accept('hang')
    const first = scope.use(await start('first'))
    await eventually(
      async () => {
        expect(await runs()).toHaveLength(1)
      },
      { expectation: 'the handler to run' },
    )
    const second = scope.use(await start('second'))
    await first.kill()
    await eventually(
      async () => {
        expect(await counts()).toEqual({ open: 0, parked: 0 })
      },
      { expectation: 'the message to be done' },
    )
    expect(await runs()).toEqual([
      { message_id: id, attempt: 1, worker: 'first', ended: false },
      { message_id: id, attempt: 2, worker: 'second', ended: true },
    ])
    expect((await storage.inbox.get(id))?.state).toBe('succeeded')
    second.terminate()
    expect(await second.ended).toBe(0)
  })

  it('of one message each time lose that message alone: the others of its batch of 500 lose at most one attempt', async () => {
    await using scope = new AsyncDisposableStack()
    const { accept, counts, runs, start, storage } = await bench(postgres, scope)
    const finish = Array.from({ length: 250 }, (): Job['does'] => 'finish')
    const ids = await accept(...finish, 'kill the process', ...finish.slice(1))
    const killer = ids[250] ?? ''
    const over = { batchSize: 500, concurrency: 16, leaseMs: 1000, heartbeatMs: 250 }
    const deaths: (number | string)[] = []
    let worker: WorkerProcess = scope.use(await start('worker 0', over))
    const supervise = async (): Promise<void> => {
      for (;;) {
        const ended = await worker.ended
        deaths.push(ended)
        if (ended !== 'SIGKILL') return
        worker = scope.use(await start(`worker ${String(deaths.length)}`, over))
      }
    }
    const supervised = supervise()
    await eventually(
      async () => {
        expect(await counts()).toEqual({ open: 0, parked: 1 })
      },
      { expectation: 'everything to end', timeoutMs: 60_000 },
    )
    worker.terminate()
    await supervised
    expect(deaths).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', 0])

    const parked = await storage.inbox.get(killer)
    expect(parked?.state).toBe('parked')
    expect(parked?.failures.map(({ attempt, code }) => [attempt, code])).toEqual(
      [1, 2, 3].map((attempt) => [attempt, 'LEASE_EXPIRED']),
    )
    const attempts = new Map<string, number>()
    const ended = new Map<string, number>()
    for (const run of await runs()) {
      attempts.set(run.message_id, Math.max(run.attempt, attempts.get(run.message_id) ?? 0))
      if (run.ended) ended.set(run.message_id, (ended.get(run.message_id) ?? 0) + 1)
    }
    const others = ids.filter((id) => id !== killer)
    expect(others).toHaveLength(499)
    expect(others.filter((id) => !ended.has(id))).toEqual([])
    expect(others.filter((id) => (attempts.get(id) ?? 0) > 2)).toEqual([])
    expect(attempts.get(killer)).toBe(3)
  }, 90_000)

  it('by SIGTERM finish what runs and give the rest back, which another one takes at once', async () => {
    await using scope = new AsyncDisposableStack()
    const { accept, counts, runs, start } = await bench(postgres, scope)
    await accept(...Array.from({ length: 100 }, (): Job['does'] => 'finish'))
    const over = { concurrency: 4, leaseMs: 60_000, heartbeatMs: 15_000 }
    const first = scope.use(await start('first', { ...over, waits: true }))
    await eventually(
      async () => {
        expect(await runs()).toHaveLength(4)
      },
      { expectation: 'four handlers to run' },
    )
    const second = scope.use(await start('second', over))
    first.terminate()
    // Within a fraction of the lease, and while the handlers of the first one still run.
    const byWorker = async (name: string) =>
      (await runs()).filter(({ worker, ended }) => worker === name && ended)
    await eventually(
      async () => {
        expect(await byWorker('second')).toHaveLength(96)
      },
      { expectation: 'the second worker to take over', timeoutMs: 15_000 },
    )
    expect(await byWorker('first')).toHaveLength(0)
    first.goOn()
    expect(await first.ended).toBe(0)
    expect(await byWorker('first')).toHaveLength(4)
    expect((await runs()).map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, () => 1))
    expect(await counts()).toEqual({ open: 0, parked: 0 })
    second.terminate()
    expect(await second.ended).toBe(0)
  })
})
