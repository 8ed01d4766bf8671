import { afterAll, beforeAll, describe, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import type { TestVhost } from '../../../integration-tests/services/index.ts'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { amqpProfile, openAmqpFixture } from './support/amqp-fixture.ts'

await describeWithServices('the AMQP transport', ['rabbitmq'], ({ rabbitmq }) => {
  let vhost: TestVhost

  beforeAll(async () => {
    vhost = await rabbitmq.createVhost()
  })
  afterAll(async () => {
    await vhost[Symbol.asyncDispose]()
  })

  for (const kind of ['quorum', 'classic'] as const) {
    // Both kinds under stress take minutes; the short mode has the one that is the default.
    for (const stress of kind === 'quorum' || process.env['LITEBUS_LONG'] === '1' ? [false, true] : [false]) {
      registerSuite(
        transportConformance({
          adapter: `amqp, ${kind} queues${stress ? ' under stress' : ''}`,
          profile: amqpProfile(kind),
          open: (scope) => openAmqpFixture(scope, vhost.url, kind),
          stress,
        }),
        { describe, it },
      )
    }
  }
})
