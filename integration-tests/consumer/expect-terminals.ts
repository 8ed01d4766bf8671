import { expect } from '@jest/globals'
import { eventually } from '../services/index.ts'
import type { MessagePath } from '../transports/message-path.ts'
import type { OpenConsumer } from './open-consumer.ts'

/** Waits for terminals and an empty source. */
export async function expectTerminals(
  path: MessagePath,
  { consumer, target }: OpenConsumer,
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  await eventually(
    async () => {
      expect(consumer.counts()).toMatchObject({ ...expected, inFlight: 0 })
      expect(await path.fixture.count(target.source)).toBe(0)
    },
    { expectation: `${JSON.stringify(expected)} and an empty source` },
  )
}
