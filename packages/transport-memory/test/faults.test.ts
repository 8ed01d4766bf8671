import { describe, expect, it } from '@jest/globals'
import { manualClock } from '@litebus/conformance'
import type { Delivery, OutboundMessage, PublishOutcome } from '@litebus/core'
import { memoryBroker, memoryTransport, type MemoryQueueOptions } from '@litebus/transport-memory'

function to(destination: string, messageId: string, parts: Partial<OutboundMessage> = {}): OutboundMessage {
  return { destination, messageId, body: new TextEncoder().encode(messageId), headers: {}, ...parts }
}

function open(...queues: readonly MemoryQueueOptions[]) {
  const clock = manualClock()
  const broker = memoryBroker({ clock, queues })
  return { clock, broker, transport: memoryTransport({ broker, publishTimeoutMs: 1000 }) }
}

/** Lets microtasks run, which is all that the broker needs while its clock stands still. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

function statuses(outcomes: readonly PublishOutcome[]): readonly string[] {
  return outcomes.map((outcome) => (outcome.status === 'confirmed' ? 'confirmed' : outcome.failure.code))
}

async function collect(transport: ReturnType<typeof open>['transport'], source: string, maxInFlight = 10) {
  const deliveries: Delivery[] = []
  const subscription = await transport.consumer.subscribe({ source, maxInFlight }, (delivery) => {
    deliveries.push(delivery)
  })
  return { deliveries, subscription }
}

describe('back-pressure of the memory broker', () => {
  it('lets publishers of a full queue wait for room, in order', async () => {
    const { transport, broker } = open({ name: 'q', capacity: 2 })
    const publishing = transport.publisher.publish(['1', '2', '3'].map((id) => to('q', id)))
    await settled()
    expect(broker.count('q').ready).toBe(2)
    const { deliveries } = await collect(transport, 'q', 1)
    await settled()
    await deliveries[0]?.accept()
    expect(statuses(await publishing)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(broker.peek('q').map((body) => new TextDecoder().decode(body))).toEqual(['3'])
  })

  it('gives up after the timeout, with nothing sent', async () => {
    const { transport, broker, clock } = open({ name: 'q', capacity: 1 })
    const publishing = transport.publisher.publish([to('q', '1'), to('q', '2')])
    await settled()
    await clock.advance(1000)
    expect(statuses(await publishing)).toEqual(['confirmed', 'CONNECTION_BLOCKED'])
    expect(broker.count('q').ready).toBe(1)
  })

  it('refuses at once where the queue says so', async () => {
    const { transport } = open({ name: 'q', capacity: 1, overflow: 'refuse' })
    expect(statuses(await transport.publisher.publish([to('q', '1'), to('q', '2')]))).toEqual([
      'confirmed',
      'BROKER_REFUSED',
    ])
  })
})

describe('faults of the memory broker', () => {
  it('block publishers until they are taken away', async () => {
    const { transport, broker } = open({ name: 'q' })
    broker.faults.setBlocked(true)
    const publishing = transport.publisher.publish([to('q', '1')])
    await settled()
    expect(broker.count('q').ready).toBe(0)
    broker.faults.setBlocked(false)
    expect(statuses(await publishing)).toEqual(['confirmed'])
  })

  it('hold confirms, which a lost connection makes ambiguous although the message arrived', async () => {
    const { transport, broker } = open({ name: 'q' })
    const release = broker.faults.holdConfirms()
    const first = transport.publisher.publish([to('q', '1')])
    await settled()
    release()
    expect(statuses(await first)).toEqual(['confirmed'])
    broker.faults.holdConfirms()
    const second = transport.publisher.publish([to('q', '2')])
    await settled()
    broker.faults.dropConnections()
    expect(await second).toMatchObject([{ status: 'ambiguous', failure: { code: 'CONNECTION_LOST' } }])
    expect(broker.count('q').ready).toBe(2)
  })

  it.each([
    [{ status: 'rejected' }, 0],
    [{ status: 'ambiguous' }, 0],
    [{ status: 'ambiguous', stored: true }, 1],
    [{ status: 'unavailable' }, 0],
  ] as const)('fail the next publish: %j', async (fault, stored) => {
    const { transport, broker } = open({ name: 'q' })
    broker.faults.failNextPublish(fault)
    expect(await transport.publisher.publish([to('q', '1')])).toMatchObject([{ status: fault.status }])
    expect(broker.count('q').ready).toBe(stored)
    expect(statuses(await transport.publisher.publish([to('q', '2')]))).toEqual(['confirmed'])
  })

  it('refuse a settlement, which leaves the authority, or lose it, which does not', async () => {
    const { transport, broker } = open({ name: 'q' })
    const { deliveries, subscription } = await collect(transport, 'q', 1)
    await transport.publisher.publish([to('q', '1')])
    await settled()
    broker.faults.failNextSettlement({ result: 'notSent' })
    expect(await deliveries[0]?.accept()).toBe('notSent')
    broker.faults.failNextSettlement({ result: 'unknown' })
    expect(await deliveries[0]?.accept()).toBe('unknown')
    await settled()
    expect(deliveries.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 2])
    broker.faults.failNextSettlement({ result: 'unknown', arrived: true })
    expect(await deliveries[1]?.accept()).toBe('unknown')
    expect(await subscription.stop({ budgetMs: 0 })).toEqual({ unsettled: 0 })
    expect(broker.count('q')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
  })

  it('keep everybody out until the broker can be reached again', async () => {
    const { transport, broker, clock } = open({ name: 'q' })
    const { subscription } = await collect(transport, 'q')
    broker.faults.setReachable(false)
    broker.faults.dropConnections()
    await clock.advance(10)
    expect(subscription.state).toBe('recovering')
    expect(statuses(await transport.publisher.publish([to('q', '1')]))).toEqual(['CONNECTION_LOST'])
    await expect(transport.probe()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' })
    broker.faults.setReachable(true)
    await clock.advance(10)
    await transport.probe()
    expect(subscription.state).toBe('consuming')
  })
})

describe('queues of the memory broker', () => {
  it('dead-letter a message whose delivery limit is used up', async () => {
    const { transport, broker } = open({ name: 'q', deliveryLimit: 1, deadLetter: 'dead' }, { name: 'dead' })
    const { deliveries } = await collect(transport, 'q')
    await transport.publisher.publish([to('q', '1')])
    await settled()
    await deliveries[0]?.returnToQueue()
    await settled()
    await deliveries[1]?.returnToQueue()
    expect([broker.count('q').ready, broker.count('dead').ready]).toEqual([0, 1])
  })

  it('hold everything behind a return with a delay where they are ordered', async () => {
    const { transport, clock } = open({ name: 'q', ordered: true })
    const { deliveries } = await collect(transport, 'q', 1)
    await transport.publisher.publish([to('q', '1'), to('q', '2')])
    await settled()
    const firstFailureAt = new Date(5)
    await deliveries[0]?.returnToQueue({ delayMs: 100, attempt: 3, firstFailureAt })
    await settled()
    expect(deliveries).toHaveLength(1)
    await clock.advance(100)
    await settled()
    expect(deliveries[1]).toMatchObject({ attempt: 3, firstFailureAt, message: { messageId: '1' } })
  })

  it('drop a second publish under one deduplication id where they deduplicate', async () => {
    const { transport, broker } = open({ name: 'q', deduplicate: true })
    const outcomes = await transport.publisher.publish([
      to('q', '1'),
      to('q', '1'),
      to('q', '1', { deduplicationId: 'x' }),
    ])
    expect(statuses(outcomes)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(broker.count('q').ready).toBe(2)
  })
})
