import { expect, it } from '@jest/globals'
import { uuidV7, type Lease, type MessageStore } from '@litebus/core'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const durationMs = process.env['LITEBUS_LONG'] === '1' ? 600_000 : 5000
const heldRows = 400

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

/** Lets the others have a turn, also where a call has nothing to do. */
function aTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What four processes do to the same rows, each in an order of its own. */
class Held {
  readonly #leases = new Map<string, Lease>()

  get size(): number {
    return this.#leases.size
  }
  add(leases: readonly Lease[]): void {
    for (const lease of leases) this.#leases.set(lease.sequence, lease)
  }
  all(): Lease[] {
    return shuffled([...this.#leases.values()])
  }
  /** Some of them, which stay in the set: the heartbeat may name what is being settled. */
  some(): Lease[] {
    return this.all().slice(0, 1 + Math.floor(Math.random() * 30))
  }
  remove(leases: readonly Lease[]): void {
    for (const lease of leases) this.#leases.delete(lease.sequence)
  }
}

await describeWithServices('heartbeats and settles of the same rows', ['postgres'], ({ postgres }) => {
  it(
    `for ${String(durationMs / 1000)} s do not deadlock, in whatever order they name them`,
    async () => {
      await using scope = new AsyncDisposableStack()
      const database = scope.use(await postgres.createDatabase())
      const pool = new pg.Pool({ connectionString: database.url, max: 8 })
      scope.defer(() => pool.end())
      const storage = scope.use(postgresStorage({ pool, schema: 'locks', listen: false }))
      await storage.schema.migrate()
      const store: MessageStore<never> = storage.inbox as MessageStore<never>
      const held = new Held()
      const counts = { renewals: 0, settles: 0, releases: 0, applied: 0 }
      const endsAtMs = performance.now() + durationMs
      const repeat = async (work: () => Promise<void>): Promise<void> => {
        while (performance.now() < endsAtMs) await work()
      }
      const refill = async (): Promise<void> => {
        if (held.size > heldRows) {
          await aTurn()
          return
        }
        await store.append(
          Array.from({ length: 200 }, (_, index) => ({
            id: uuidV7(),
            contractName: 'a',
            contractVersion: 1,
            body: Buffer.from('{}'),
            ...(index % 2 === 0 ? {} : { orderingKey: `key ${String(index % 20)}` }),
          })),
        )
        const { envelopes } = await store.lease({
          owner: 'w',
          limit: 200,
          leaseMs: 60_000,
          maxAttempts: 1000,
        })
        held.add(envelopes.map(({ lease }) => lease))
      }
      const renew = async (): Promise<void> => {
        await aTurn()
        await store.renew(held.all(), 60_000)
        counts.renewals += 1
      }
      const settle = async (): Promise<void> => {
        await aTurn()
        const leases = held.some()
        if (leases.length === 0) return
        const results = await store.settle(
          leases.map((lease, index) =>
            index % 3 === 0
              ? { kind: 'retry', lease, delayMs: 0, category: 'UNKNOWN', code: 'R' }
              : { kind: 'succeeded', lease },
          ),
        )
        held.remove(leases)
        counts.settles += 1
        counts.applied += results.filter((result) => result === 'applied').length
      }
      const release = async (): Promise<void> => {
        await aTurn()
        const leases = held.some().slice(0, 10)
        if (leases.length === 0) return
        await store.release(leases)
        held.remove(leases)
        counts.releases += 1
      }
      await refill()
      await Promise.all([refill, renew, renew, settle, settle, release].map(repeat))

      expect(Math.min(counts.renewals, counts.settles, counts.releases)).toBeGreaterThan(durationMs / 1000)
      expect(counts.applied).toBeGreaterThan(counts.settles)
      // Sessions hand their figures in when they end, at the latest.
      await pool.query('select pg_stat_force_next_flush()')
      const { deadlocks, commits } = await eventually(
        async () => {
          const { rows } = await pool.query<{ deadlocks: number; commits: number }>(
            `select deadlocks::int, xact_commit::int as commits from pg_stat_database
            where datname = current_database()`,
          )
          const [figures] = rows
          if (figures === undefined) throw new Error('expected figures of this database')
          expect(figures.commits).toBeGreaterThan(counts.settles)
          return figures
        },
        { expectation: 'the figures of the server' },
      )
      expect(deadlocks).toBe(0)
      process.stdout.write(
        `${String(counts.renewals)} heartbeats, ${String(counts.settles)} settles, ${String(counts.releases)} releases, ` +
          `${String(commits)} commits, ${String(deadlocks)} deadlocks\n`,
      )
    },
    durationMs + 60_000,
  )
})
