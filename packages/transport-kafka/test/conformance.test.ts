import { afterAll, beforeAll, describe, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import type { TestTopics } from '../../../integration-tests/services/index.ts'
import { kafkaProfile, openKafkaFixture } from './support/kafka-fixture.ts'

await describeWithServices('the Kafka transport', ['kafka'], ({ kafka }) => {
  let space: TestTopics

  beforeAll(async () => {
    space = await kafka.createTopics()
  })
  afterAll(async () => {
    await space[Symbol.asyncDispose]()
  })

  const long = process.env['LITEBUS_LONG'] === '1'
  for (const partitions of [1, 4]) {
    // All four take minutes; the short mode has one partition at ease and several under stress.
    for (const stress of long ? [false, true] : [partitions > 1]) {
      registerSuite(
        transportConformance({
          adapter: `kafka, ${partitions === 1 ? 'one partition' : 'several partitions'}${stress ? ' under stress' : ''}`,
          profile: kafkaProfile(),
          open: (scope) => openKafkaFixture(scope, space, { partitions }),
          stress,
        }),
        { describe, it },
      )
    }
  }
})
