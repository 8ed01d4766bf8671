import { storeConformance } from '@litebus/conformance'
import { appendFaults } from './broken/append-faults.ts'
import { damaged } from './broken/broken-store.ts'
import { describeFaults } from './broken/describe-faults.ts'
import { laneFaults } from './broken/lane-faults.ts'
import { leaseFaults } from './broken/lease-faults.ts'
import { otherFaults } from './broken/other-faults.ts'
import { memoryBinding } from './memory-fixture.ts'

describeFaults({
  subject: 'store',
  faults: [...appendFaults, ...leaseFaults, ...laneFaults, ...otherFaults],
  sound: storeConformance(memoryBinding),
  broken: (fault) =>
    storeConformance(
      { ...memoryBinding, open: async (scope) => damaged(await memoryBinding.open(scope), fault) },
      { checkerMs: 1000 },
    ),
})
