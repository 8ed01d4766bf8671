import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type NewMessage } from '@litebus/core'
import { eventually, startTcpProxy, type TcpProxy } from '../../../integration-tests/services/index.ts'
import { postgresStorage, type PostgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const request = { owner: 'w', limit: 10, leaseMs: 60_000, maxAttempts: 3 }
const limits = { connectTimeoutMs: 300, statementTimeoutMs: 300 }
const message = (): NewMessage => ({
  id: uuidV7(),
  contractName: 'a',
  contractVersion: 1,
  body: Buffer.from('{}'),
})
const unavailable = { code: 'STORE_UNAVAILABLE' }

beforeAll(async () => {
  await using storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })
  await storage.schema.migrate()
})

afterAll(() => dropSchema(schema))

interface Line extends AsyncDisposable {
  readonly proxy: TcpProxy
  readonly pool: pg.Pool
  readonly storage: PostgresStorage
}

/** A storage whose every byte goes through a proxy. */
async function openLine(max = 2): Promise<Line> {
  const scope = new AsyncDisposableStack()
  const proxy = scope.use(await startTcpProxy({ port: Number(new URL(databaseUrl()).port) }))
  const pool = new pg.Pool({ connectionString: proxy.through(databaseUrl()), max })
  pool.on('error', () => undefined)
  scope.defer(() => pool.end())
  const storage = scope.use(postgresStorage({ pool, schema, listen: false, ...limits }))
  await storage.inbox.probe()
  return { proxy, pool, storage, [Symbol.asyncDispose]: () => scope.disposeAsync() }
}

describe('a network that drops packets in silence', () => {
  it('fails every operation of the store as unavailable, the probe too, instead of holding it for ever', async () => {
    await using line = await openLine()
    const { inbox } = line.storage
    await inbox.append([message()])
    const leases = (await inbox.lease(request)).envelopes.map(({ lease }) => lease)
    line.proxy.stall()
    await expect(inbox.renew(leases, 60_000)).rejects.toMatchObject(unavailable)
    await expect(inbox.settle(leases.map((lease) => ({ kind: 'succeeded', lease })))).rejects.toMatchObject(
      unavailable,
    )
    await expect(inbox.probe()).rejects.toMatchObject(unavailable)
    await expect(inbox.lease(request)).rejects.toMatchObject(unavailable)
    await expect(inbox.append([message()])).rejects.toMatchObject(unavailable)
    line.proxy.resume()
    line.proxy.cut()
  })

  it('is got over on a new connection while the dead one stays dead', async () => {
    await using line = await openLine(1)
    const { inbox } = line.storage
    line.proxy.stallOpen()
    await expect(inbox.append([message()])).rejects.toMatchObject(unavailable)
    const [result] = await inbox.append([message()])
    expect(result?.status).toBe('inserted')
  })

  it('does not end what a handler does in its transaction', async () => {
    await using line = await openLine()
    const { inbox } = line.storage
    await inbox.append([message()])
    const [leased] = (await inbox.lease(request)).envelopes
    if (leased === undefined) throw new Error('expected a message')
    const result = await inbox.completeInTransaction(leased.lease, async (transaction) => {
      await transaction.query('select pg_sleep(0.5)')
    })
    expect(result).toBe('applied')
  })

  it('lets go of the connection of a transaction that is given up', async () => {
    await using line = await openLine(1)
    const { inbox } = line.storage
    await inbox.append([message()])
    const [leased] = (await inbox.lease(request)).envelopes
    if (leased === undefined) throw new Error('expected a message')
    const givenUp = new AbortController()
    const completing = inbox.completeInTransaction(
      leased.lease,
      async (transaction) => {
        line.proxy.stallOpen()
        setImmediate(() => {
          givenUp.abort()
        })
        await transaction.query('select 1')
      },
      { signal: givenUp.signal },
    )
    await expect(completing).rejects.toBeDefined()
    await eventually(
      async () => {
        expect(await inbox.settle([{ kind: 'succeeded', lease: leased.lease }])).toEqual(['applied'])
      },
      { expectation: 'the only connection to be free again' },
    )
  })
})

describe('a connection that dies between the pool and the store', () => {
  it('ends no process: somebody listens from the first moment on', async () => {
    const pool = new pg.Pool({ connectionString: databaseUrl(), max: 1 })
    const unheard: unknown[] = []
    pool.on('acquire', (client) => {
      process.nextTick(() => {
        try {
          client.emit('error', new Error('the connection died'))
        } catch (error) {
          unheard.push(error)
        }
      })
    })
    await using storage = postgresStorage({ pool, schema, listen: false })
    await storage.inbox.append([message()])
    await pool.end()
    expect(unheard).toEqual([])
  })

  it('ends no process either when it dies idle in the pool of the application', async () => {
    const pool = new pg.Pool({ connectionString: databaseUrl(), max: 1 })
    await using storage = postgresStorage({ pool, schema, listen: false })
    await storage.inbox.probe()
    expect(() => pool.emit('error', new Error('the connection died'), undefined as never)).not.toThrow()
    await pool.end()
  })
})

describe('transactions', () => {
  it('keep their connection when what the handler throws is not of the database', async () => {
    const pool = new pg.Pool({ connectionString: databaseUrl(), max: 1 })
    await using storage = postgresStorage({ pool, schema, listen: false })
    await storage.inbox.append([message()])
    const [leased] = (await storage.inbox.lease(request)).envelopes
    if (leased === undefined) throw new Error('expected a message')
    let removed = 0
    pool.on('remove', () => (removed += 1))
    const fault = new Error('the shop is closed')
    await expect(storage.inbox.completeInTransaction(leased.lease, () => Promise.reject(fault))).rejects.toBe(
      fault,
    )
    await storage.inbox.probe()
    expect(removed).toBe(0)
    await pool.end()
  })
})
