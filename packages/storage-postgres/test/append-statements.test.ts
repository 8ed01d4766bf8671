import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type NewMessage } from '@litebus/core'
import { postgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const statements: string[] = []
const pool = new pg.Pool({ connectionString: databaseUrl(), max: 1 })
pool.on('connect', (client) => {
  const query = client.query.bind(client) as (...values: unknown[]) => unknown
  const recorded = (...values: unknown[]): unknown => {
    const [statement] = values as [string | { readonly text: string }]
    statements.push(typeof statement === 'string' ? statement : statement.text)
    return query(...values)
  }
  Object.assign(client, { query: recorded })
})
const storage = postgresStorage({ pool, schema, listen: false })

const withoutKey = (id: string): NewMessage => ({
  id,
  contractName: 'a',
  contractVersion: 1,
  body: Buffer.from('{}'),
})
const message = (key: string): NewMessage => ({ ...withoutKey(uuidV7()), idempotency: { key } })

beforeAll(async () => {
  await storage.schema.migrate()
  await storage.inbox.append([message('first')])
})

afterAll(async () => {
  await dropSchema(schema)
  await storage.close()
  await pool.end()
})

it('writes a batch of new messages with keys by one statement', async () => {
  statements.length = 0
  const results = await storage.inbox.append([message('a'), message('b'), message('c')])
  expect(results.map(({ status }) => status)).toEqual(['inserted', 'inserted', 'inserted'])
  expect(statements).toHaveLength(1)
})

it('writes a batch in which one message is known in a transaction, and nothing of it twice', async () => {
  statements.length = 0
  const results = await storage.inbox.append([message('d'), message('first'), message('e')])
  expect(results.map(({ status }) => status)).toEqual(['inserted', 'existing', 'inserted'])
  expect(statements.at(-1)).toBe('commit')
  const { rows } = await pool.query(`select idempotency_key from "${schema}".inbox_message order by seq`)
  expect(rows.map((row: { idempotency_key: string }) => row.idempotency_key)).toEqual([
    'first',
    'a',
    'b',
    'c',
    'd',
    'e',
  ])
})

it('asks once whether a message that is written alone is known', async () => {
  statements.length = 0
  const [result] = await storage.inbox.append([message('first')])
  expect(result?.status).toBe('existing')
  expect(statements.filter((statement) => statement.includes('append_one'))).toHaveLength(1)
})

it('looks for no other message with a new id in the transaction of a caller, and for that of a given one', async () => {
  const client = await pool.connect()
  await client.query('begin')
  statements.length = 0
  const id = uuidV7()
  await storage.inbox.append([{ ...withoutKey(uuidV7()), idIsNew: true }], { transaction: client })
  await storage.inbox.append([withoutKey(id)], { transaction: client })
  const [again] = await storage.inbox.append([withoutKey(id)], { transaction: client })
  await client.query('rollback')
  client.release()
  expect(again?.status).toBe('existing')
  const called = statements.flatMap((statement) => /append_one\w*/u.exec(statement)?.[0] ?? [])
  expect(called).toEqual(['append_one_new', 'append_one', 'append_one'])
})

it('locks keys and ids that may repeat, and no random id', async () => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const random = Array.from({ length: 50 }, () => withoutKey(uuidV7()))
    const messages = [...random, withoutKey(crypto.randomUUID()), message('key')]
    await storage.inbox.append(messages, { transaction: client })
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
    )
    expect(rows[0]?.count).toBe('2')
  } finally {
    await client.query('rollback')
    client.release()
  }
})
