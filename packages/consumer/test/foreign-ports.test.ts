import { describe, expect, it, jest } from '@jest/globals'
import { defineContract, defineHandler, type Logger, type Telemetry } from '@litebus/core'
import { memoryBroker, memoryTransport } from '@litebus/transport-memory'
import { eventually } from '../../../integration-tests/services/index.ts'
import { createConsumer } from '../src/index.ts'

const contract = defineContract<{ n: number }>({ name: 'a', version: 1 })
const broken = (): never => {
  throw new Error('broken')
}
const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken }
const telemetry: Telemetry = { count: broken, record: broken, observe: broken, startSpan: broken }

describe('a consumer whose logger, telemetry and classifier throw', () => {
  it('settles every delivery all the same', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    using broker = memoryBroker({ queues: [{ name: 'q' }, { name: 'dead' }] })
    await using transport = memoryTransport({ broker })
    const consumer = createConsumer({
      transport,
      source: 'q',
      handlers: [
        defineHandler({
          contract,
          handle({ n }) {
            if (n % 2 === 1) throw new Error('odd')
          },
        }),
      ],
      retry: { deadLetterDestination: 'dead' },
      classifier: broken,
      logger,
      telemetry,
    })
    await consumer.start()
    await transport.publisher.publish(
      [0, 1, 2, 3].map((n) => ({
        destination: 'q',
        messageId: `m${String(n)}`,
        body: new TextEncoder().encode(JSON.stringify({ n })),
        headers: {
          'litebus-message-id': `m${String(n)}`,
          'litebus-contract-name': 'a',
          'litebus-contract-version': '1',
        },
        contentType: 'application/json',
      })),
      { signal: new AbortController().signal },
    )
    await eventually(
      () => {
        expect(consumer.counts()).toMatchObject({ acked: 2, acked_dead_letter: 2, inFlight: 0 })
      },
      { expectation: 'all deliveries to be settled' },
    )
    expect((await consumer.stop()).graceful).toBe(true)
    expect(warned).toHaveBeenCalledTimes(2)
    warned.mockRestore()
  })
})
