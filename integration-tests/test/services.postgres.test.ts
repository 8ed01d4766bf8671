import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client } from 'pg'
import { describeWithServices } from '../services/describe-with-services.ts'
import type { TestDatabase } from '../services/index.ts'

async function ask(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

await describeWithServices('the PostgreSQL of the tests', ['postgres'], ({ postgres }) => {
  let first: TestDatabase
  let second: TestDatabase
  beforeAll(async () => {
    ;[first, second] = await Promise.all([postgres.createDatabase(), postgres.createDatabase()])
  })
  afterAll(async () => {
    await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()])
  })

  test('gives every caller an empty database in UTF-8', async () => {
    await ask(first.url, 'create table only_here (id int)')
    const tables = "select count(*)::int as n from pg_tables where schemaname = 'public'"
    expect(await ask(second.url, tables)).toEqual([{ n: 0 }])
    expect(await ask(first.url, tables)).toEqual([{ n: 1 }])
    expect(await ask(first.url, 'show server_encoding')).toEqual([{ server_encoding: 'UTF8' }])
  })

  test('drops the database at disposal even while a session is open in it', async () => {
    const database = await postgres.createDatabase()
    const name = new URL(database.url).pathname.slice(1)
    const session = new Client({ connectionString: database.url })
    session.on('error', () => undefined)
    await session.connect()
    await database[Symbol.asyncDispose]()
    expect(await ask(postgres.url, `select 1 from pg_database where datname = '${name}'`)).toEqual([])
    await session.end()
  })
})

await describeWithServices('a PostgreSQL node of a test', ['startPostgresNode'], ({ startPostgresNode }) => {
  test('takes settings, keeps its data over a restart and a crash, and leaves nothing behind', async () => {
    const node = await startPostgresNode({ settings: { max_connections: '17' } })
    expect(await ask(node.url, 'show max_connections')).toEqual([{ max_connections: '17' }])
    await ask(node.url, 'create table kept as select 1 as id')
    await node.restart()
    expect(await ask(node.url, 'select id from kept')).toEqual([{ id: 1 }])
    await node.kill()
    await expect(ask(node.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    await node.start()
    expect(await ask(node.url, 'select id from kept')).toEqual([{ id: 1 }])
    expect(await node.ctl(['status'])).toContain('server is running')
    await node[Symbol.asyncDispose]()
    await expect(ask(node.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })
})
