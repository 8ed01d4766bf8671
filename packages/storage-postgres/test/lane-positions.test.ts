import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { uuidV7, type LeasedEnvelope } from '@litebus/core'
import { eventually } from '../../../integration-tests/services/index.ts'
import { postgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const pool = new pg.Pool({ connectionString: databaseUrl(), max: 3 })
const storage = postgresStorage({ pool, schema, listen: false })
const perRun = 5

const append = (): Promise<unknown> =>
  storage.inbox.append(
    Array.from({ length: 2 * perRun }, () => ({
      id: uuidV7(),
      contractName: 'a',
      contractVersion: 1,
      body: Buffer.from('{}'),
      orderingKey: 'key',
    })),
  )
const leaseRun = async (): Promise<readonly LeasedEnvelope[]> => {
  const request = { owner: 'worker', limit: perRun, leaseMs: 60_000, maxAttempts: 5, maxPerKey: perRun }
  const { envelopes } = await storage.inbox.lease(request)
  return envelopes
}
const settle = (envelopes: readonly LeasedEnvelope[]): Promise<unknown> =>
  storage.inbox.settle(envelopes.map(({ lease }) => ({ kind: 'succeeded', lease })))
const safeFrom = async (): Promise<number> => {
  const { rows } = await pool.query<{ safe_from: string }>(`select safe_from from "${schema}".inbox_lane`)
  return Number(rows[0]?.safe_from)
}

beforeAll(async () => {
  await storage.schema.migrate()
})

afterAll(async () => {
  await dropSchema(schema)
  await storage.close()
  await pool.end()
})

it('looks for the next run of a key from the latest one on, so that an old snapshot leaves little to step over', async () => {
  // Whoever writes elsewhere in the cluster holds a position back until they end.
  await eventually(
    async () => {
      await append()
      await settle(await leaseRun())
      const run = await leaseRun()
      const position = await safeFrom()
      await settle(run)
      expect(position).toBe(Number(run[0]?.lease.sequence))
    },
    { expectation: 'the position to follow' },
  )
})
