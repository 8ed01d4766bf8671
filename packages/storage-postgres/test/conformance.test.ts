import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  dedupConformance,
  registerSuite,
  storeConformance,
  type StoreSuiteOptions,
} from '@litebus/conformance'
import pg from 'pg'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import type { ServiceNode } from '../../../integration-tests/services/index.ts'
import { databaseUrl, postgresBinding, postgresDedupBinding } from './postgres-fixture.ts'

const isLong = process.env['LITEBUS_LONG'] === '1'
const options: StoreSuiteOptions = isLong ? { checkerMs: 600_000, raceRows: 20_000 } : {}

registerSuite(storeConformance(postgresBinding('postgres'), options), { describe, it })
registerSuite(dedupConformance(postgresDedupBinding), { describe, it })

async function versionOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int / 10000 as version`,
  )
  await client.end()
  return rows[0]?.version ?? 0
}

const embedded = 18

// The server of the tests may be an older one: then the long mode runs the suite on the embedded one as well.
if (isLong && (await versionOf(databaseUrl())) !== embedded) {
  await describeWithServices('on the embedded server', ['startPostgresNode'], ({ startPostgresNode }) => {
    let node: ServiceNode | undefined
    beforeAll(async () => {
      node = await startPostgresNode()
    })
    afterAll(async () => {
      await node?.[Symbol.asyncDispose]()
    })
    it(`which is PostgreSQL ${String(embedded)}`, async () => {
      expect(await versionOf(node?.url ?? '')).toBe(embedded)
    })
    registerSuite(storeConformance(postgresBinding('postgres 18', () => node?.url ?? '')), { describe, it })
  })
}
