import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type LeasedEnvelope } from '@litebus/core'
import { eventually } from '../../../integration-tests/services/index.ts'
import { postgresStorage, type PostgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const gate = 4_242_424
const mutexes = /select array_agg\(u\.lane order by u\.n\)/u

let schema: string
let pool: pg.Pool
let operator: pg.Client
let storage: PostgresStorage

beforeEach(async () => {
  schema = freshSchema()
  pool = new pg.Pool({ connectionString: databaseUrl(), max: 4 })
  operator = new pg.Client({ connectionString: databaseUrl() })
  await operator.connect()
  storage = postgresStorage({ pool, schema, listen: false })
  await storage.schema.migrate()
})

afterEach(async () => {
  await storage.close()
  await pool.end()
  await operator.end()
  await dropSchema(schema)
})

/** The owner `slow` waits at a gate between its walk over the keys and their mutexes, as a process without CPU would. */
async function slowDown(): Promise<void> {
  const { rows } = await operator.query<{ definition: string }>(
    `select pg_get_functiondef(p.oid) as definition from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname = 'inbox_lease_lanes'`,
    [schema],
  )
  const [{ definition } = { definition: '' }] = rows
  expect(definition).toMatch(mutexes)
  await operator.query(
    definition.replace(
      mutexes,
      `if p_owner like 'slow%' then perform pg_advisory_xact_lock(${String(gate)}); end if;\n  $&`,
    ),
  )
}

async function untilSlowWaits(): Promise<void> {
  await eventually(
    async () => {
      const { rows } = await operator.query(
        `select 1 from pg_locks where locktype = 'advisory' and objid = ${String(gate)} and not granted`,
      )
      expect(rows).toHaveLength(1)
    },
    { expectation: 'the slow owner to wait between its steps' },
  )
}

const lease = async (owner: string): Promise<readonly LeasedEnvelope[]> => {
  const request = { owner, limit: 10, leaseMs: 60_000, maxAttempts: 5, maxPerKey: 1 }
  return (await storage.inbox.lease({ ...request, onKeyDeadLetter: 'skip' })).envelopes
}
const idsOf = (envelopes: readonly LeasedEnvelope[]): readonly string[] =>
  envelopes.map(({ message }) => message.id)

/** Four messages of one key: the first is a dead letter, two are done, and the position of the key is behind them. */
async function aKeyThatWentOn(): Promise<readonly string[]> {
  const ids = Array.from({ length: 4 }, () => uuidV7())
  await storage.inbox.append(
    ids.map((id) => ({
      id,
      contractName: 'a',
      contractVersion: 1,
      body: Buffer.from('{}'),
      orderingKey: 'key',
    })),
  )
  const failure = { category: 'VALIDATION', code: 'NO' } as const
  const [first] = await lease('worker')
  if (first === undefined) throw new Error('expected a lease')
  await storage.inbox.settle([{ kind: 'deadLettered', lease: first.lease, ...failure }])
  for (let done = 0; done < 2; done += 1) {
    const [next] = await lease('worker')
    if (next === undefined) throw new Error('expected a lease')
    await storage.inbox.settle([{ kind: 'succeeded', lease: next.lease }])
  }
  // Where a server does not run anything else, which nothing here can tell, it stands there by itself.
  await operator.query(`update "${schema}".inbox_lane set safe_from = run_from, pending_from = run_to + 1`)
  return ids
}

/** Requeues the first message of the key while a slow lease stands between its steps, and answers what that leases. */
async function requeueMeanwhile(meanwhile: () => Promise<unknown>): Promise<readonly string[]> {
  await slowDown()
  await operator.query(`select pg_advisory_lock(${String(gate)})`)
  const slow = lease('slow')
  await untilSlowWaits()
  expect(await storage.inbox.requeue({ states: ['parked'] })).toMatchObject({ requeued: 1 })
  await meanwhile()
  await operator.query(`select pg_advisory_unlock(${String(gate)})`)
  return idsOf(await slow)
}

describe('a message that is requeued between the steps of a lease', () => {
  it('is not overtaken by those behind it', async () => {
    const [first] = await aKeyThatWentOn()
    // It became due after the slow lease began, and holds back those behind it until a later one.
    expect(await requeueMeanwhile(() => Promise.resolve())).toEqual([])
    expect(idsOf(await lease('worker'))).toEqual([first])
  })

  it('keeps its key while another owner has it', async () => {
    const [first] = await aKeyThatWentOn()
    let other: readonly string[] = []
    const slow = await requeueMeanwhile(async () => {
      other = idsOf(await lease('other'))
    })
    expect(other).toEqual([first])
    expect(slow).toEqual([])
  })
})
