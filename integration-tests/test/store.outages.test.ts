import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import pg from 'pg'
import { startWorker } from '../processes/worker-process.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually, startTcpProxy, type ServiceNode, type TcpProxy } from '../services/index.ts'
import type { LogLine, OutageAnswer } from '../workers/outage-ledger.ts'

const outageMs = process.env['LITEBUS_LONG'] === '1' ? 60_000 : 3000
const leaseMs = 5000

interface Site {
  readonly node: ServiceNode
  readonly proxy: TcpProxy
}

/** Begins an outage and answers how to end it. */
type Outage = (site: Site) => Promise<() => Promise<unknown> | void>

async function administer(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c default_transaction_read_only=off' })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

async function hogConnections(url: string): Promise<() => Promise<unknown>> {
  const hogs: pg.Client[] = []
  for (;;) {
    const hog = new pg.Client({ connectionString: url })
    hog.on('error', () => undefined)
    try {
      await hog.connect()
      hogs.push(hog)
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' })
      return () => Promise.all(hogs.map((one) => one.end()))
    }
  }
}

const outages: readonly {
  readonly title: string
  readonly begin: Outage
}[] = [
  {
    title: 'is stopped and started',
    async begin({ node }) {
      await node.stop()
      return () => node.start()
    },
  },
  {
    title: 'crashes and starts',
    async begin({ node }) {
      await node.kill()
      return () => node.start()
    },
  },
  {
    title: 'is cut off',
    begin({ proxy }) {
      proxy.refuse()
      proxy.cut()
      return Promise.resolve(() => {
        proxy.accept()
      })
    },
  },
  {
    title: 'stalls',
    begin({ proxy }) {
      proxy.stall()
      return Promise.resolve(() => {
        proxy.resume()
      })
    },
  },
  {
    title: 'has no connection left',
    async begin({ node, proxy }) {
      proxy.refuse()
      proxy.cut()
      const release = await hogConnections(node.url)
      proxy.accept()
      return release
    },
  },
  {
    title: 'becomes read-only',
    async begin({ node }) {
      const reload = 'select pg_reload_conf()'
      await administer(node.url, ['alter system set default_transaction_read_only = on', reload])
      return () => administer(node.url, ['alter system reset default_transaction_read_only', reload])
    },
  },
]

/** Lines of one processor about one kind of work: they tell a change, or the same trouble ten seconds later. */
function excessLines(lines: readonly LogLine[]): string[] {
  const last = new Map<string, LogLine>()
  return lines.flatMap((line) => {
    const about = `${line.processor}: ${line.message.replace(/ (failed|works again)$|: .*$/, '')}`
    const before = last.get(about)
    last.set(about, line)
    const isRepeated = before?.message === line.message && line.atMs - before.atMs < 10_000
    return isRepeated ? [`${about}: ${line.message}`] : []
  })
}

await describeWithServices('while the database', ['startPostgresNode'], ({ startPostgresNode }) => {
  it.each(outages)(
    '$title, producers and processors come through by themselves and nothing is lost',
    async ({ title, begin }) => {
      await using scope = new AsyncDisposableStack()
      const node = scope.use(await startPostgresNode({ settings: { max_connections: '30' } }))
      const proxy = scope.use(await startTcpProxy({ port: node.port }))
      await administer(node.url, ['create table business (id uuid)'])
      const url = proxy.through(node.url)
      const load = scope.use(
        await startWorker('outage-load', {
          PATH: process.env['PATH'],
          WORKER: JSON.stringify({ url, leaseMs }),
        }),
      )
      const look = async (): Promise<OutageAnswer> => (await load.ask('report')) as OutageAnswer
      const untilMore = (handled: number) =>
        eventually(
          async () => {
            expect((await look()).handled.length).toBeGreaterThan(handled)
          },
          { expectation: 'more messages to be handled', timeoutMs: 60_000 },
        )
      await untilMore(100)

      const before = await look()
      const end = await begin({ node, proxy })
      await delay(outageMs)
      const during = await look()
      const refused = during.refused - before.refused
      expect(refused).toBeGreaterThan(0)
      expect([before.isHealthy, during.isHealthy]).toEqual([true, false])
      await end()
      await untilMore(during.handled.length + 200)
      await load.ask('stop producing')

      const observer = new pg.Client({ connectionString: node.url })
      await observer.connect()
      scope.defer(() => observer.end())
      const rows = async (statement: string): Promise<string[]> =>
        (await observer.query<{ value: string }>(statement)).rows.map(({ value }) => value)
      await eventually(
        async () => {
          const left = await rows(
            'select seq::text as value from load.inbox_queue union all select seq::text from load.outbox_queue',
          )
          expect(left).toHaveLength(0)
        },
        { expectation: 'the queues to be empty', timeoutMs: 60_000 },
      )
      const report = await look()
      const committed = await rows(
        'select id::text as value from business union all select id::text from load.outbox_message',
      )
      const handled = new Set(report.handled)
      expect(committed.filter((id) => !handled.has(id))).toEqual([])
      const stored = new Set(committed)
      expect(report.accepted.filter((id) => !stored.has(id))).toEqual([])
      expect(report.handled.filter((id) => !stored.has(id))).toEqual([])
      expect(
        await rows('select code as value from load.inbox_dead union all select code from load.outbox_dead'),
      ).toEqual([])
      expect(report.overtaken).toBe(0)
      expect(report.unhandled).toEqual([])
      expect(excessLines(report.lines)).toEqual([])
      expect(report.lines.length).toBeLessThanOrEqual(20 + outageMs / 1000)
      load.terminate()
      expect(await load.ended).toBe(0)
      const lines = report.lines.map(({ processor, message }) => `${processor}: ${message}`)
      process.stdout.write(
        `${title} for ${String(outageMs)} ms: ${String(committed.length)} committed, 0 lost, ` +
          `${String(report.runs - handled.size)} duplicates, ${String(report.refused)} writes refused, ` +
          `${String(during.handled.length - before.handled.length)} handled meanwhile, ${String(lines.length)} log lines\n`,
      )
    },
    outageMs + 180_000,
  )
})
