import { describe, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import { amqpProfile, openAmqpFixture } from './support/amqp-fixture.ts'

for (const kind of ['quorum', 'classic'] as const) {
  registerSuite(
    transportConformance({
      adapter: `amqp, ${kind} queues`,
      profile: amqpProfile(kind),
      open: (scope) => openAmqpFixture(scope, kind),
    }),
    { describe, it },
  )
}
