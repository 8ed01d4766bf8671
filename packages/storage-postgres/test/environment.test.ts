import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type NewMessage } from '@litebus/core'
import { postgresStorage, type PostgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const role = `litebus_worker_${schema.slice(-12)}`
const message = (over: Partial<NewMessage> = {}): NewMessage => ({
  id: uuidV7(),
  contractName: 'a',
  contractVersion: 1,
  body: Buffer.from('{}'),
  ...over,
})
const request = { owner: 'w', limit: 100, leaseMs: 60_000, maxAttempts: 3 }

async function sql(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl() })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
  await storage.schema.migrate()
  await sql(`create role ${role} login; grant usage on schema "${schema}" to ${role};
    grant select, insert, update, delete on all tables in schema "${schema}" to ${role};
    grant usage, select on all sequences in schema "${schema}" to ${role}`)
})

afterAll(async () => {
  await dropSchema(schema)
  await sql(`drop role ${role}`)
})

/** Takes a few messages, ordered and not, through everything a processor does; answers how many are left to purge. */
async function workThrough(options: string, user = 'postgres'): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl(), user, options, max: 4 })
  await using storage = postgresStorage({ pool, schema, listen: false })
  try {
    await storage.inbox.append([
      message(),
      message({ idempotency: { key: uuidV7() } }),
      message({ orderingKey: uuidV7() }),
    ])
    const { envelopes } = await storage.inbox.lease(request)
    expect(envelopes).toHaveLength(3)
    const leases = envelopes.map((envelope) => envelope.lease)
    expect(await storage.inbox.renew(leases, 60_000)).toEqual(['renewed', 'renewed', 'renewed'])
    const [first, second, third] = leases
    if (first === undefined || second === undefined || third === undefined) throw new Error('expected three')
    await storage.inbox.release([first])
    expect(
      await storage.inbox.settle([
        { kind: 'deadLettered', lease: second, category: 'UNKNOWN', code: 'X' },
        { kind: 'succeeded', lease: third },
      ]),
    ).toEqual(['applied', 'applied'])
    const again = (await storage.inbox.lease(request)).envelopes[0]
    if (again === undefined) throw new Error('expected the released message')
    expect(await storage.inbox.completeInTransaction(again.lease, () => Promise.resolve())).toBe('applied')
    await workThroughKeys(storage.dedup)
    await storage.inbox.runRetention({ retentionMs: 0, dedupRetentionMs: 0 })
    return await storage.inbox.purge({}, { all: true })
  } finally {
    await pool.end()
  }
}

/** Takes a few keys through everything a consumer does. */
async function workThroughKeys(store: PostgresStorage['dedup']): Promise<void> {
  const [first, second, third] = [uuidV7(), uuidV7(), uuidV7()]
  const claim = async (key: string): Promise<string> => (await store.claim(key, 60_000)).generation
  await store.release(first, await claim(first))
  expect(await store.complete(second, await claim(second))).toBe('applied')
  const held = { key: third, generation: await claim(third) }
  expect(await store.completeInTransaction(held, () => Promise.resolve())).toBe('applied')
  expect((await store.claim(third, 60_000)).state).toBe('completed')
  expect(await store.runRetention({ dedupRetentionMs: 0 })).toBe(2)
}

describe('the store works', () => {
  it.each(['serializable', 'repeatable read', 'read uncommitted'])(
    'when sessions default to %s',
    async (level) => {
      expect(await workThrough(`-c default_transaction_isolation=${level.replaceAll(' ', '\\ ')}`)).toBe(1)
    },
  )

  it('with an empty search path', async () => {
    expect(await workThrough('-c search_path=')).toBe(1)
  })

  it('under a role with the documented rights only', async () => {
    expect(await workThrough('', role)).toBe(1)
  })

  it('in many sessions at once when they default to serializable', async () => {
    const options = '-c default_transaction_isolation=serializable'
    const pool = new pg.Pool({ connectionString: databaseUrl(), options, max: 6 })
    await using storage = postgresStorage({ pool, schema, listen: false })
    try {
      await storage.outbox.append(Array.from({ length: 300 }, () => message()))
      let settled = 0
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          for (let idle = 0; idle < 3;) {
            const { envelopes } = await storage.outbox.lease({ ...request, limit: 10 })
            idle = envelopes.length === 0 ? idle + 1 : 0
            const results = await storage.outbox.settle(
              envelopes.map(({ lease }) => ({ kind: 'succeeded' as const, lease })),
            )
            settled += results.filter((result) => result === 'applied').length
          }
        }),
      )
      expect(settled).toBe(300)
    } finally {
      await pool.end()
    }
  })
})

describe('faults of the database', () => {
  it('are reported as the store being unavailable, with the cause', async () => {
    await using storage = postgresStorage({
      connection: 'postgres://postgres@127.0.0.1:1/none',
      schema,
      listen: false,
    })
    await expect(storage.inbox.probe()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      cause: expect.anything() as unknown,
    })
  })

  it('are reported as such when the database is read-only', async () => {
    const pool = new pg.Pool({
      connectionString: databaseUrl(),
      options: '-c default_transaction_read_only=on',
    })
    await using storage = postgresStorage({ pool, schema, listen: false })
    try {
      await expect(storage.inbox.append([message()])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    } finally {
      await pool.end()
    }
  })

  it('do not end the process when the server closes connections, and the store recovers', async () => {
    await using storage = postgresStorage({
      connection: { connectionString: databaseUrl(), application_name: schema },
      schema,
    })
    await storage.inbox.probe()
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${schema}'`)
    await storage.inbox.append([message()]).catch(() => undefined)
    await storage.inbox.append([message()])
    expect((await storage.inbox.lease(request)).envelopes.length).toBeGreaterThan(0)
    await storage.inbox.purge({}, { all: true })
  })
})

describe("the caller's transaction", () => {
  it('may be a pool client on which BEGIN is still under way', async () => {
    await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
    const client = new pg.Client({ connectionString: databaseUrl() })
    await client.connect()
    const begun = client.query('begin')
    const [result] = await storage.outbox.append([message()], { transaction: client })
    await begun
    expect(result?.status).toBe('inserted')
    await client.query('rollback')
    await client.end()
  })

  it('that has failed is refused as such', async () => {
    await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
    const client = new pg.Client({ connectionString: databaseUrl() })
    await client.connect()
    await client.query('begin')
    await client.query('select 1/0').catch(() => undefined)
    await expect(storage.outbox.append([message()], { transaction: client })).rejects.toMatchObject({
      code: 'INVALID_OPERATION',
    })
    await client.end()
  })

  it('stays usable with more keys than are locked one by one', async () => {
    await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
    const client = new pg.Client({ connectionString: databaseUrl() })
    await client.connect()
    await client.query('begin')
    const batch = Array.from({ length: 1500 }, () => message({ idempotency: { key: uuidV7() } }))
    const results = await storage.outbox.append(batch, { transaction: client })
    expect(results.filter((result) => result.status === 'inserted')).toHaveLength(1500)
    expect((await client.query<{ lock_timeout: string }>('show lock_timeout')).rows).toEqual([
      { lock_timeout: '0' },
    ])
    await client.query('commit')
    expect((await storage.outbox.append(batch)).every((result) => result.status === 'existing')).toBe(true)
    await client.end()
  })

  it('keeps the answer when a key was committed after its snapshot', async () => {
    await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
    const client = new pg.Client({ connectionString: databaseUrl() })
    await client.connect()
    await client.query('begin isolation level repeatable read')
    await client.query('select 1 from pg_class limit 1')
    await storage.outbox.append([message({ idempotency: { key: 'late' } })])
    await expect(
      storage.outbox.append([message({ idempotency: { key: 'late' } })], { transaction: client }),
    ).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await client.end()
  })
})
