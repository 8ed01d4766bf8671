import { dedupConformance } from '@litebus/conformance'
import { damagedDedup, dedupFaults } from './broken/dedup-faults.ts'
import { describeFaults } from './broken/describe-faults.ts'
import { memoryDedupBinding } from './memory-fixture.ts'

describeFaults({
  subject: 'dedup store',
  faults: dedupFaults,
  sound: dedupConformance(memoryDedupBinding),
  broken: (fault) =>
    dedupConformance({
      ...memoryDedupBinding,
      open: async (scope) => damagedDedup(await memoryDedupBinding.open(scope), fault),
    }),
})
