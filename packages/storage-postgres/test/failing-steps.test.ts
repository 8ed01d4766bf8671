import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type NewMessage } from '@litebus/core'
import { postgresStorage, type PostgresPool, type PostgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const request = { owner: 'w', limit: 10, leaseMs: 60_000, maxAttempts: 3 }
const pool = new pg.Pool({ connectionString: databaseUrl(), max: 4 })
let failOn: RegExp | undefined

/** The pool, with statements that fail once they match. */
const flaky: PostgresPool = {
  connect(callback) {
    pool.connect((error, client) => {
      if (client === undefined) {
        callback(error, undefined)
        return
      }
      const query = client.query.bind(client) as (statement: { text: string }) => Promise<never>
      const failing = async (statement: { readonly text: string }): Promise<never> => {
        if (failOn?.test(statement.text) !== true) return query(statement)
        failOn = undefined
        throw Object.assign(new Error('out of memory'), { code: '53200', severity: 'ERROR' })
      }
      callback(
        undefined,
        new Proxy(client, {
          get(target, name) {
            if (name === 'query') return failing
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? (value.bind(target) as unknown) : value
          },
        }),
      )
    })
  },
}
let storage: PostgresStorage

const message = (over: Partial<NewMessage> = {}): NewMessage => ({
  id: uuidV7(),
  contractName: 'a',
  contractVersion: 1,
  body: Buffer.from('{}'),
  ...over,
})

/** Whether nobody holds a lease. */
async function isNothingHeld(): Promise<boolean> {
  const { rows } = await pool.query<{ held: string }>(
    `select count(*) as held from "${schema}".inbox_queue where lease_expires_at > clock_timestamp()`,
  )
  return Number(rows[0]?.held) === 0
}

beforeAll(async () => {
  await using installer = postgresStorage({ connection: databaseUrl(), schema, listen: false })
  await installer.schema.migrate()
})

beforeEach(async () => {
  failOn = undefined
  storage = postgresStorage({ pool: flaky, schema, listen: false })
  await storage.inbox.purge({}, { all: true })
})

afterAll(async () => {
  await pool.end()
  await dropSchema(schema)
})

describe('a lease call whose later statement fails', () => {
  it('hands out what the earlier ones have leased', async () => {
    await storage.inbox.append([message(), message({ orderingKey: 'k' })])
    for (const step of [/lease_lanes/, /lease_ready/]) {
      failOn = step
      const { envelopes } = await storage.inbox.lease(request)
      expect(envelopes.length > 0 || (await isNothingHeld())).toBe(true)
      await storage.inbox.release(envelopes.map(({ lease }) => lease))
      expect(await isNothingHeld()).toBe(true)
    }
  })

  it('gives back what it has leased and cannot read', async () => {
    await storage.inbox.append([message({ body: Buffer.from([0xff, 0xfe]) }), message()])
    failOn = /encode\(m\.body/
    await expect(storage.inbox.lease(request)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await isNothingHeld()).toBe(true)
    expect((await storage.inbox.lease(request)).envelopes.map(({ attempt }) => attempt)).toEqual([1, 1])
  })
})

describe('a settle of successes and failures', () => {
  it.each([/settle_failed/, /settle_succeeded/, /^commit$/])(
    'records nothing when %s fails, so that telling it again applies to all',
    async (step) => {
      await storage.inbox.append([message(), message()])
      const [first, second] = (await storage.inbox.lease(request)).envelopes
      if (first === undefined || second === undefined) throw new Error('expected two messages')
      const outcomes = [
        { kind: 'succeeded', lease: first.lease },
        { kind: 'retry', lease: second.lease, delayMs: 0, category: 'UNKNOWN', code: 'X' },
      ] as const
      failOn = step
      await expect(storage.inbox.settle(outcomes)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(await storage.inbox.settle(outcomes)).toEqual(['applied', 'applied'])
    },
  )
})
