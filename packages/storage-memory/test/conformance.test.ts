import { describe, it } from '@jest/globals'
import { registerSuite, storeConformance } from '@litebus/conformance'
import { memoryBinding } from './memory-fixture.ts'

registerSuite(storeConformance(memoryBinding), { describe, it })
