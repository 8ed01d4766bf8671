import { afterEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7 } from '@litebus/core'
import { postgresStorage, type PostgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const opened: { readonly schema: string; readonly storage: PostgresStorage }[] = []

function open(
  schema = freshSchema(),
  tablePrefix = '',
): { readonly schema: string; readonly storage: PostgresStorage } {
  const entry = {
    schema,
    storage: postgresStorage({ connection: databaseUrl(), schema, tablePrefix, listen: false }),
  }
  opened.push(entry)
  return entry
}

async function sql(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl() })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

const message = { id: uuidV7(), contractName: 'a', contractVersion: 1, body: Buffer.from('{}') }
const request = { owner: 'w', limit: 10, leaseMs: 60_000, maxAttempts: 3 }

afterEach(async () => {
  for (const { schema, storage } of opened.splice(0)) {
    await storage.close()
    await dropSchema(schema.replaceAll('"', '""'))
  }
})

describe('the schema manager', () => {
  it('installs once when 20 instances start at once', async () => {
    const { schema } = open()
    const starters = Array.from({ length: 20 }, () => open(schema))
    const results = await Promise.all(starters.map(({ storage }) => storage.schema.migrate()))
    expect(results.every(({ installed, expected }) => installed === expected)).toBe(true)
    expect(await starters[0]?.storage.schema.validate()).toEqual({ valid: true, faults: [] })
  }, 60_000)

  it('works with any schema name and prefix', async () => {
    const { storage } = open(`${freshSchema()} "odd' \\ näme`, 'p"x_')
    await storage.schema.migrate()
    expect(await storage.schema.validate()).toEqual({ valid: true, faults: [] })
    await storage.inbox.append([message])
    const { envelopes } = await storage.inbox.lease(request)
    expect(envelopes).toHaveLength(1)
    const lease = envelopes[0]?.lease
    expect(lease && (await storage.inbox.settle([{ kind: 'succeeded', lease }]))).toEqual(['applied'])
  })

  it('keeps two prefixes of one schema apart', async () => {
    const first = open(undefined, 'a_')
    const second = open(first.schema, 'b_')
    await first.storage.schema.migrate()
    await second.storage.schema.migrate()
    await first.storage.inbox.append([message])
    expect((await second.storage.inbox.lease(request)).envelopes).toEqual([])
  })

  it('refuses to work without its schema, and says what to do', async () => {
    const { storage } = open()
    await expect(storage.inbox.append([message])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('migrate first') as unknown,
    })
    expect(await storage.schema.version()).toEqual({ installed: 0, expected: 1 })
  })

  it('refuses a newer schema and leaves it alone', async () => {
    const { schema, storage } = open()
    await storage.schema.migrate()
    await sql(`insert into "${schema}".migration (version, name) values (99, 'future')`)
    await expect(storage.schema.migrate()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const late = open(schema)
    await expect(late.storage.inbox.lease(request)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect((await late.storage.schema.validate()).faults).toEqual([
      expect.stringContaining('newer 99') as unknown,
    ])
  })

  it('refuses a database that is not in UTF-8, before anything is in it', async () => {
    const name = freshSchema()
    await sql(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    const url = new URL(databaseUrl())
    url.pathname = name
    const storage = postgresStorage({ connection: url.href, listen: false })
    try {
      await expect(storage.schema.migrate()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('encoding UTF8, found LATIN1') as unknown,
      })
      expect(await storage.schema.version()).toEqual({ installed: 0, expected: 1 })
    } finally {
      await storage.close()
      await sql(`drop database ${name}`)
    }
  })

  it('refuses tables of its names that are not its own', async () => {
    const { schema, storage } = open()
    await sql(`create schema "${schema}"; create table "${schema}".inbox_queue (id int)`)
    await expect(storage.schema.migrate()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('inbox_queue') as unknown,
    })
  })

  it('names every drift', async () => {
    const { schema, storage } = open()
    await storage.schema.migrate()
    await sql(`drop index "${schema}".outbox_queue_due; alter table "${schema}".inbox_done add column extra int;
      alter table "${schema}".inbox_queue alter column attempts drop not null;
      create or replace function "${schema}".inbox_append_waiting() returns text language sql as 'select null'`)
    const { valid, faults } = await storage.schema.validate()
    expect(valid).toBe(false)
    expect(faults.map((fault) => fault.split(/[:(]| is /)[0]).sort()).toEqual([
      'column inbox_done.extra',
      'column inbox_queue.attempts',
      'function inbox_append_waiting',
      'index outbox_queue_due',
    ])
  })

  it('prints what it would run, and accepts what was run by hand', async () => {
    const { schema, storage } = open()
    await sql(await storage.schema.sql())
    expect(await storage.schema.sql()).toBe('')
    expect((await storage.schema.validate()).valid).toBe(false)
    await storage.schema.migrate()
    expect(await storage.schema.validate()).toEqual({ valid: true, faults: [] })
    expect(storage.schema.installationSql()).toContain(schema)
  })
})
