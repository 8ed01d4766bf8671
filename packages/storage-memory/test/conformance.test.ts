import { describe, it } from '@jest/globals'
import { dedupConformance, registerSuite, storeConformance } from '@litebus/conformance'
import { memoryBinding, memoryDedupBinding } from './memory-fixture.ts'

registerSuite(storeConformance(memoryBinding), { describe, it })
registerSuite(dedupConformance(memoryDedupBinding), { describe, it })
