import { describe, expect, it } from '@jest/globals'
import { sleep, StoreUnavailableError } from '@litebus/core'
import { memoryTransport } from '@litebus/transport-memory'
import { bench } from './arrange.ts'

describe('an outage of the store that was', () => {
  it('given up is asked about again when a probe never answers', async () => {
    const parts = bench()
    let down = true
    let probes = 0
    parts.before = () => {
      if (down) throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress({
      holdLimitMs: 10_000,
      probe: () => (++probes === 1 ? new Promise<never>(() => undefined) : Promise.resolve()),
    })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(11_000)
    expect(subject.state).toBe('suspended')
    down = false
    await parts.clock.advance(120_000)
    expect([probes, subject.state, subject.counts().acked]).toEqual([2, 'consuming', 1])
    await subject.stop()
  })

  it('given up after a handoff was is waited for as well, and leaves intake paused for neither', async () => {
    const parts = bench()
    let down = true
    let publishes = 0
    parts.before = () => {
      if (down) throw new StoreUnavailableError('down')
    }
    const inner = memoryTransport({ broker: parts.broker })
    const publish: typeof inner.publisher.publish = async (messages, options) => {
      if (publishes++ === 0) await sleep(parts.clock, 4000)
      return inner.publisher.publish(messages, options)
    }
    const subject = parts.ingress({
      transport: { ...inner, publisher: { publish } },
      holdLimitMs: 10_000,
      onDiscard: { deadLetter: 'gone' },
      probe: () => (down ? Promise.reject(new StoreUnavailableError('down')) : Promise.resolve()),
    })
    parts.put({ messageId: 'poison', headers: {} })
    await subject.start()
    await parts.clock.advance(2000)
    parts.order('a')
    await parts.clock.advance(74_000)
    expect(subject.state).toBe('suspended')
    // Nothing is left to be delivered that could tell that the store is back.
    const other = await inner.consumer.subscribe({ source: 'billing', maxInFlight: 100 }, (delivery) => {
      void delivery.accept()
    })
    await parts.clock.advance(10)
    const stopped = other.stop({ budgetMs: 10 })
    await parts.clock.advance(20)
    await stopped
    down = false
    parts.broker.declareQueue({ name: 'gone' })
    await parts.clock.advance(600_000)
    expect([subject.state, subject.pausedBy]).toEqual(['consuming', []])
    parts.order('later')
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 1, inFlight: 0 })
    await subject.stop()
  })
})
