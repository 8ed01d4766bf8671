import { describe, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import { memoryProfile, openMemoryFixture } from './memory-fixture.ts'

for (const stress of [false, true]) {
  registerSuite(
    transportConformance({
      adapter: stress ? 'memory under stress' : 'memory',
      profile: memoryProfile(),
      open: (scope) => Promise.resolve(openMemoryFixture(scope)),
      stress,
    }),
    { describe, it },
  )
}
