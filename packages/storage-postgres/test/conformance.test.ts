import { describe, it } from '@jest/globals'
import { registerSuite, storeConformance, type StoreSuiteOptions } from '@litebus/conformance'
import { postgresBinding } from './postgres-fixture.ts'

const options: StoreSuiteOptions =
  process.env['LITEBUS_LONG'] === '1' ? { checkerMs: 600_000, raceRows: 20_000 } : {}

registerSuite(storeConformance(postgresBinding('postgres'), options), { describe, it })
