import { describe, it } from '@jest/globals'
import { registerSuite, storeConformance } from '@litebus/conformance'
import { postgresBinding } from './postgres-fixture.ts'

registerSuite(storeConformance(postgresBinding), { describe, it })
