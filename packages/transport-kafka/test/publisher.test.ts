import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import type { OutboundMessage } from '@litebus/core'
import { resolveKafkaOptions } from '../src/options.ts'
import { createKafkaPublisher } from '../src/publisher.ts'
import { createTopics } from '../src/topics.ts'
import { fakeKafka } from './support/fake-kafka.ts'

const message = (messageId: string, parts: Partial<OutboundMessage> = {}): OutboundMessage => ({
  destination: 'topic',
  messageId,
  body: new Uint8Array(),
  headers: {},
  ...parts,
})

function arrange() {
  const kafka = fakeKafka()
  const clock = manualClock()
  const options = resolveKafkaOptions({ brokers: 'fake:9092', publishTimeoutMs: 5000, clock })
  const publisher = createKafkaPublisher(options, kafka, createTopics(kafka, options))
  return { kafka, clock, publisher }
}

describe('the Kafka publisher', () => {
  it('answers what a broker never answers when the time is up: sent is ambiguous, waiting is unavailable', async () => {
    const { kafka, clock, publisher } = arrange()
    kafka.holdWrites = true
    const first = publisher.publish([message('sent')])
    await clock.advance(1)
    const second = publisher.publish([message('waiting')])
    await clock.advance(4999)
    expect(await first).toMatchObject([{ status: 'ambiguous', failure: { code: 'PUBLISH_TIMEOUT' } }])
    await clock.advance(1)
    expect((await second)[0]?.status).toMatch(/ambiguous|unavailable/u)
  })

  it('answers at once when its caller gives up', async () => {
    const { kafka, clock, publisher } = arrange()
    kafka.holdWrites = true
    const controller = new AbortController()
    const publishing = publisher.publish([message('sent')], { signal: controller.signal })
    await clock.advance(1)
    controller.abort()
    expect(await publishing).toMatchObject([{ status: 'ambiguous', failure: { code: 'PUBLISH_CANCELLED' } }])
  })

  it('answers each message that it was given, though its caller uses the list again', async () => {
    const { publisher } = arrange()
    const list = [message('a'), message('b')]
    const publishing = publisher.publish(list)
    list.length = 0
    expect(await publishing).toEqual([{ status: 'confirmed' }, { status: 'confirmed' }])
  })

  it('sends messages of one key to one partition in one request, and those without a key in turn', async () => {
    const { kafka, publisher } = arrange()
    await publisher.publish([1, 2, 3].map((n) => message(`k-${String(n)}`, { orderingKey: 'key' })))
    expect(new Set(kafka.writes[0]?.map(({ partition }) => partition)).size).toBe(1)
    await publisher.publish([1, 2, 3, 4].map((n) => message(`f-${String(n)}`)))
    expect(kafka.writes[1]?.map(({ partition }) => partition)).toEqual([0, 1, 0, 1])
    expect(kafka.writes).toHaveLength(2)
  })

  it('asks for a topic once, and again after it was missing', async () => {
    const { kafka, publisher } = arrange()
    kafka.exists = false
    expect(await publisher.publish([message('a')])).toMatchObject([
      { status: 'rejected', failure: { code: 'DESTINATION_MISSING' } },
    ])
    kafka.exists = true
    expect(await publisher.publish([message('a')])).toEqual([{ status: 'confirmed' }])
  })
})
